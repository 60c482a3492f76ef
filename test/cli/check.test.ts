import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/support/process.ts';
import { MAIN, PACKAGE_ROOT } from '../../src/support/self.ts';
import { goodMachines, writeShelf } from '../helpers/machine.ts';

/** The command as it is built: run as a process, since its exit status and streams are what is promised. */

let folder = '';
let env: Record<string, string> = {};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'machinery-check-cli-'));
  env = { PATH: process.env.PATH ?? '', HOME: folder, MACHINERY_DATA: join(folder, 'data') };
  await writeShelf(join(folder, 'site'), goodMachines(2));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const machinery = (...args: string[]) => run(process.execPath, [MAIN, ...args], { cwd: folder, env });
const breakOne = () => writeFile(join(folder, 'site/machines/machine-1/machine.js'), 'let a = 1;\nlet a = 2;\n');

describe('machinery check', () => {
  it('exits 0 on a good shelf, in one line, and remembers its verdicts', async () => {
    const { stdout, stderr, exitCode } = await machinery('check');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^check ok: 2 machines, no errors, .+\n$/);
    expect(await readdir(join(folder, 'data/cache/check'))).toEqual(['verdicts']);
  });

  it('remembers nothing with --no-cache', async () => {
    await machinery('check', '--no-cache');
    await expect(readdir(join(folder, 'data'))).rejects.toThrow('ENOENT');
  });

  it('exits 1 on errors and names file and line', async () => {
    await breakOne();
    const { stdout, exitCode } = await machinery('check');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('machine-1\n  error    script/syntax  site/machines/machine-1/machine.js:2');
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^check failed: 2 machines, 1 error, /);
    expect(stdout).not.toContain('\u001b');
  });

  it('prints the report and nothing else with --json', async () => {
    await breakOne();
    const { stdout, exitCode } = await machinery('check', 'machine-1', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      gate: 'check',
      ok: false,
      machines: ['machine-1'],
      findings: [{ rule: 'script/syntax', severity: 'error', file: 'machines/machine-1/machine.js', line: 2 }],
    });
  });

  it.each([
    ['no site', ['check', '--site', 'nowhere'], 'no site folder'],
    ['a machine that is not listed', ['check', 'nothing'], 'nothing'],
    ['an option it does not have', ['check', '--fast'], '--fast'],
  ])('exits 2 for %s, with the mend on stderr', async (_, args, told) => {
    const { stdout, stderr, exitCode } = await machinery(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(told);
  });

  it("takes the words of the factory's own configuration", async () => {
    await cp(join(PACKAGE_ROOT, 'factory.yaml'), join(folder, 'factory.yaml'));
    const first = await machinery('check');
    expect(first.stderr).toBe('');
    env.MACHINERY_CATALOGUE_ERAS = '1920s';
    const { stdout, exitCode } = await machinery('check');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('entry/era');
  });

  it('says the same on several threads as on one', async () => {
    await writeShelf(join(folder, 'site'), goodMachines(60));
    for (const n of [3, 30, 59]) await writeFile(join(folder, `site/machines/machine-${n}/machine.js`), '{');
    await writeFile(join(folder, 'site/machines/machine-40/machine.css'), '.a {');
    const { stdout } = await machinery('check', '--json', '--no-cache');
    const { findings } = JSON.parse(stdout) as { findings: { rule: string; machine: string }[] };
    expect(findings.map(({ rule, machine }) => [rule, machine])).toEqual([
      ['script/syntax', 'machine-3'],
      ['script/syntax', 'machine-30'],
      ['style/syntax', 'machine-40'],
      ['script/syntax', 'machine-59'],
    ]);
  });
});

describe('scripts/check.sh', () => {
  const script = join(PACKAGE_ROOT, 'scripts/check.sh');

  it('runs the machinery on the PATH', async () => {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'machinery'), '#!/bin/sh\necho "asked: $*"\nexit 1\n');
    await chmod(join(bin, 'machinery'), 0o755);
    const { stdout, exitCode } = await run(script, ['a b', '--json'], {
      cwd: folder,
      env: { PATH: `${bin}:/usr/bin:/bin` },
    });
    expect({ stdout, exitCode }).toEqual({ stdout: 'asked: check a b --json\n', exitCode: 1 });
  });

  it('says how to build where nothing is built', async () => {
    const copy = join(folder, 'scripts/check.sh');
    const bin = join(folder, 'bare');
    await mkdir(bin);
    for (const name of ['sh', 'dirname']) await symlink(`/bin/${name}`, join(bin, name));
    await cp(script, copy);
    const { stderr, exitCode } = await run('/bin/sh', [copy], { cwd: folder, env: { PATH: bin } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('npm run build');
  });
});
