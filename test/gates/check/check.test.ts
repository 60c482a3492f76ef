import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { check } from '../../../src/gates/check/check.ts';
import { FactoryError } from '../../../src/support/errors.ts';
import { type TestMachine, goodMachines, writeShelf } from '../../helpers/machine.ts';
import { swap } from './cases/bench.ts';

let folder = '';
let site = '';
let cache = '';
let machines: TestMachine[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'machinery-check-'));
  site = join(folder, 'site');
  cache = join(folder, 'cache');
  machines = goodMachines(3);
  await writeShelf(site, machines);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const slugOf = (at: number) => (machines[at] as TestMachine).entry.slug;
const fileOf = (at: number, name: string) => join(site, 'machines', slugOf(at), name);

describe('check', () => {
  it('judges every machine of the catalogue and finds nothing on a good shelf', async () => {
    const { ok, gate, findings, machines: judged } = await check({ site });
    expect({ ok, gate, findings }).toEqual({ ok: true, gate: 'check', findings: [] });
    expect(judged).toEqual(machines.map(({ entry }) => entry.slug));
  });

  it('finds nothing on a full shelf of 250 places', async () => {
    await writeShelf(site, goodMachines(250));
    expect((await check({ site })).findings).toEqual([]);
  }, 180_000);

  it('refuses to run where there is no site', async () => {
    const failure = await check({ site: join(folder, 'nowhere') }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FactoryError);
    expect(failure).toMatchObject({ code: 'gate/no-site', message: expect.stringContaining('nowhere') });
  });

  it('refuses a machine that the catalogue does not list', async () => {
    await expect(check({ site, slugs: ['nothing'] })).rejects.toMatchObject({ code: 'gate/no-machine' });
  });

  it('tells only the machines it is asked for, and judges uniqueness against all', async () => {
    await writeFile(fileOf(1, 'machine.js'), '{');
    (machines[2] as TestMachine).entry.kind = (machines[0] as TestMachine).entry.kind;
    await writeFile(join(site, 'machines.json'), JSON.stringify(machines.map(({ entry }) => entry)));
    const { findings, machines: judged } = await check({ site, slugs: [slugOf(2)] });
    expect(judged).toEqual([slugOf(2)]);
    expect(findings.map(({ rule, machine }) => [rule, machine])).toEqual([['entry/unique-kind', slugOf(2)]]);
    expect(findings[0]?.message).toContain(slugOf(0));
  });

  it('collects all findings of all machines, in the order of the catalogue and of the rules', async () => {
    await writeFile(fileOf(2, 'machine.js'), 'let a = 1;\nlet a = 2;');
    await writeFile(fileOf(2, 'extra.txt'), '');
    await writeFile(fileOf(0, 'machine.css'), '.a {}\n.b');
    const { findings } = await check({ site });
    expect(findings.map(({ rule, machine, file, line }) => [machine, rule, file, line])).toEqual([
      [slugOf(0), 'style/syntax', `machines/${slugOf(0)}/machine.css`, 2],
      [slugOf(2), 'files/set', undefined, undefined],
      [slugOf(2), 'script/syntax', `machines/${slugOf(2)}/machine.js`, 2],
    ]);
  });

  it('says on which line of the catalogue an entry is wrong', async () => {
    const text = await readFile(join(site, 'machines.json'), 'utf8');
    await writeFile(join(site, 'machines.json'), text.replace('"era": "1950s"', '"era": "1350s"'));
    const line = text.split('\n').findIndex((one) => one.includes('"era": "1950s"')) + 1;
    const { findings } = await check({ site });
    expect(findings).toMatchObject([{ rule: 'entry/era', file: 'machines.json', line }]);
  });

  it('takes the vocabulary it is given', async () => {
    const { findings } = await check({
      site,
      slugs: [slugOf(0)],
      vocabulary: { domains: ['kitchen'], eras: ['1950s'] },
    });
    expect(findings).toMatchObject([{ rule: 'entry/domain', message: expect.stringContaining('kitchen') }]);
  });

  it('never looks outside the site for a slug that is a path', async () => {
    const first = machines[0] as TestMachine;
    await writeFile(join(site, 'machines.json'), JSON.stringify([{ ...first.entry, slug: '../../..' }]));
    const { findings } = await check({ site });
    expect(findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule)).toEqual(['entry/slug']);
  });
});

describe("check's cache", () => {
  const linesOf = async () => (await readFile(join(cache, 'verdicts'), 'utf8')).split('\n').filter(Boolean);
  const breakOne = () => writeFile(fileOf(1, 'machine.js'), 'let a = 1; let a;');

  it('gives the same findings from memory as afresh', async () => {
    await breakOne();
    const fresh = await check({ site, cache });
    expect(await linesOf()).toHaveLength(9);
    const remembered = await check({ site, cache });
    expect(remembered.findings).toEqual(fresh.findings);
    expect(fresh.findings).toMatchObject([{ rule: 'script/syntax' }]);
  });

  it('really answers from what it kept: with what was kept for others, other findings', async () => {
    await breakOne();
    await check({ site, cache });
    const lines = await linesOf();
    const broken = lines.find((line) => line.includes('script/syntax')) as string;
    // Every verdict now claims the findings of the broken script, with a checksum that is right for it.
    const { createHash } = await import('node:crypto');
    const json = broken.slice(82);
    const planted = lines.map((line) => {
      const key = line.slice(0, 64);
      return `${key} ${createHash('sha256').update(key).update(json).digest('hex').slice(0, 16)} ${json}`;
    });
    await writeFile(join(cache, 'verdicts'), planted.join('\n'));
    const { findings } = await check({ site, cache, slugs: [slugOf(0)] });
    expect(findings.map(({ rule }) => rule)).toEqual(['script/syntax']);
  });

  it('judges afresh when a byte, a name in the folder or a name of the entry changes', async () => {
    await check({ site, cache });
    const first = machines[0] as TestMachine;
    swap(first, 'manual.html', '<b>BYPASS</b>', '<b>BYPATH</b>');
    await writeShelf(site, machines);
    expect((await check({ site, cache })).findings).toMatchObject([{ rule: 'manual/controls' }]);
    first.entry.controls = first.entry.controls.map((name) => (name === 'BYPASS' ? 'BYPATH' : name));
    await writeShelf(site, machines);
    expect((await check({ site, cache })).findings).toMatchObject([{ rule: 'panel/control' }]);
    await writeFile(fileOf(2, '.hidden'), '');
    expect((await check({ site, cache })).findings.map(({ rule }) => rule)).toEqual(['panel/control', 'files/set']);
  });

  it.each<[string, (text: string) => string]>([
    ['is empty', () => ''],
    ['is something else', () => '{"verdicts": []}\n\0\0'],
    ['is cut in the middle of its lines', (text) => text.replace(/.{20}$/gm, '')],
    ['has changed findings', (text) => text.replaceAll('[]', '[ ]').replaceAll('script/syntax', 'script/module')],
    ['has keys that are no keys', (text) => text.replaceAll(/^.{8}/gm, 'zzzzzzzz')],
  ])('ignores a file that %s', async (_, spoil) => {
    await breakOne();
    const fresh = await check({ site, cache });
    const path = join(cache, 'verdicts');
    await writeFile(path, spoil(await readFile(path, 'utf8')));
    expect((await check({ site, cache })).findings).toEqual(fresh.findings);
  });

  it('is whole again after a run that was killed while it wrote', async () => {
    await check({ site, cache });
    const path = join(cache, 'verdicts');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, -30));
    await check({ site, cache });
    expect((await check({ site, cache })).ok).toBe(true);
    expect(
      new Set((await linesOf()).filter((line) => / \[.*\]$/.test(line)).map((line) => line.slice(0, 64))).size,
    ).toBe(9);
  });

  it('does without when its folder cannot be made', async () => {
    await writeFile(cache, 'a file');
    expect((await check({ site, cache })).ok).toBe(true);
  });

  it('leaves nothing behind when it is not wanted', async () => {
    await check({ site, cache: null });
    await expect(readdir(cache)).rejects.toThrow('ENOENT');
  });
});
