import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Line } from '../../src/line/line.ts';
import { catalogueOf, git, machineFiles, writeAll } from '../helpers/origin.ts';
import { type Bench, SHIFT, bench, build } from './helpers.ts';

let at: Bench;
afterEach(() => at.remove());

const message = { subject: 'shift: Second - It does', body: 'Done.', shift: SHIFT, session: null };

async function worked(kind: 'bare' | 'checkout' = 'bare'): Promise<{ line: Line; base: string; work: string }> {
  at = bench(kind);
  const line = await at.open();
  const base = await line.fetch();
  await line.newBranch(SHIFT, base);
  build(at.checkout, 'second', 'first');
  const { commit } = await line.snapshot({ shift: SHIFT });
  return { line, base, work: commit };
}

describe('an origin that moved under the shift', () => {
  it('is told from one that stayed, and the work is built again on its new tip', async () => {
    const { line, base, work } = await worked();
    const built = await line.buildLanding(base, work, message);
    at.origin.commit({
      ...machineFiles('other'),
      'site/machines.json': catalogueOf('first', 'other'),
      'README.md': 'new\n',
    });
    expect(await line.publish(built.commit, base)).toBe('moved');
    const tip = await line.fetch();
    const again = await line.buildLanding(tip, work, message);
    expect(await line.publish(again.commit, tip)).toBe('landed');
    expect(git(at.origin.path, 'show', 'main:site/machines.json')).toBe(catalogueOf('first', 'other', 'second').trim());
    expect(git(at.origin.path, 'show', 'main:README.md')).toBe('new');
  });

  it('loses no entry and no byte of the catalogue that others wrote, however they wrote it', async () => {
    const { line, work } = await worked();
    const odd = '[\n  {"slug": "first", "palette": ["#000000"]},\n\t{ "slug":"other" }\n\n]';
    at.origin.commit({ 'site/machines.json': odd });
    const tip = await line.fetch();
    const built = await line.buildLanding(tip, work, message);
    const text = (await line.read(built.commit, 'site/machines.json'))?.toString() ?? '';
    expect(text.startsWith(odd.slice(0, odd.indexOf('\n\n]')))).toBe(true);
    expect(JSON.parse(text)).toHaveLength(3);
  });

  it('takes the first entry of an empty catalogue', async () => {
    const { line, work } = await worked();
    at.origin.commit({ 'site/machines.json': '[]\n' });
    const built = await line.buildLanding(await line.fetch(), work, message);
    expect((await line.read(built.commit, 'site/machines.json'))?.toString()).toBe(catalogueOf('second'));
  });

  it('is not moved back when somebody rewrote main to an older commit', async () => {
    const { line, base, work } = await worked();
    at.origin.commit({ 'README.md': 'two\n' });
    const tip = await line.fetch();
    const built = await line.buildLanding(tip, work, message);
    git(at.origin.path, 'update-ref', 'refs/heads/main', base);
    expect(await line.publish(built.commit, tip)).toBe('moved');
    expect(at.origin.tip()).toBe(base);
  });
});

describe('an origin that refuses the push', () => {
  it('is told with its own reason, and the work stays on its branch', async () => {
    const { line, base, work } = await worked();
    const hook = join(at.origin.path, 'hooks', 'update');
    mkdirSync(join(at.origin.path, 'hooks'), { recursive: true });
    writeFileSync(
      hook,
      '#!/bin/sh\n[ "$1" = refs/heads/main ] || exit 0\necho "main is closed on Sundays" >&2\nexit 1\n',
    );
    chmodSync(hook, 0o755);
    const built = await line.buildLanding(base, work, message);
    expect(await line.publish(built.commit, base)).toBe('refused');
    expect(line.refusal).toMatchObject({
      code: 'origin/refused',
      message: expect.stringContaining('closed on Sundays'),
    });
    await line.push();
    expect(at.origin.tip(`shift/${SHIFT}`)).toBe(work);
    expect(at.origin.tip()).toBe(base);
  });

  it('also for the shift branch: then the work is in the git dir of the line', async () => {
    const { line, work } = await worked();
    mkdirSync(join(at.origin.path, 'hooks'), { recursive: true });
    writeFileSync(join(at.origin.path, 'hooks', 'pre-receive'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(at.origin.path, 'hooks', 'pre-receive'), 0o755);
    await expect(line.push()).rejects.toMatchObject({ code: 'origin/refused' });
    expect((await line.stranded()).map((each) => each.commit)).toEqual([work]);
  });
});

describe('an origin that cannot be reached', () => {
  it('is told when the shift opens', async () => {
    at = bench();
    renameSync(at.origin.path, join(at.folder, 'away'));
    await expect((await at.open()).fetch()).rejects.toMatchObject({ code: 'origin/unreachable' });
    const closed = await at.open({ origin: 'http://127.0.0.1:9/x.git' });
    await expect(closed.fetch()).rejects.toMatchObject({ code: 'origin/unreachable' });
  });

  it('loses nothing at a snapshot or at landing, and gets the work when it is back', async () => {
    const { line, base, work } = await worked();
    renameSync(at.origin.path, join(at.folder, 'away'));
    await expect(line.push()).rejects.toMatchObject({ code: 'origin/unreachable' });
    const built = await line.buildLanding(base, work, message);
    await expect(line.publish(built.commit, base)).rejects.toMatchObject({ code: 'origin/unreachable' });
    renameSync(join(at.folder, 'away'), at.origin.path);
    const next = await at.open();
    await next.fetch();
    const [stranded] = await next.stranded();
    expect(stranded).toMatchObject({ branch: `shift/${SHIFT}`, commit: work, state: 'continuable' });
    await next.push(stranded?.branch);
    expect(at.origin.tip(`shift/${SHIFT}`)).toBe(work);
  });

  it.each([
    ['that has no such branch', 'trunk'],
    ['that is empty', 'main'],
  ])('differs from one %s', async (what, branch) => {
    at = bench();
    const empty = join(at.folder, 'empty.git');
    mkdirSync(empty);
    git(empty, 'init', '-q', '--bare');
    const line = await at.open({ branch, ...(what.includes('empty') ? { origin: empty } : {}) });
    await expect(line.fetch()).rejects.toMatchObject({
      code: 'origin/no-branch',
      mend: expect.stringContaining(branch),
    });
  });
});

describe('an origin that is slow', () => {
  it('is waited for as long as it says something, and ended when it falls silent', async () => {
    const { work } = await worked();
    const line = await at.open({ silenceMs: 1500 });
    const hook = join(at.origin.path, 'hooks', 'pre-receive');
    mkdirSync(join(at.origin.path, 'hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10; do echo "checking $i" >&2; sleep 0.25; done\n');
    chmodSync(hook, 0o755);
    await line.push();
    expect(at.origin.tip(`shift/${SHIFT}`)).toBe(work);
    writeFileSync(hook, '#!/bin/sh\nsleep 600\n');
    writeAll(at.checkout, { x: 'x' });
    await line.snapshot({ shift: SHIFT });
    await expect(line.push()).rejects.toMatchObject({ code: 'origin/unreachable', data: { silent: true } });
  });
});

describe.runIf(process.getuid?.() === 0)('an origin that belongs to another user', () => {
  it.each(['bare', 'checkout'] as const)('is worked like any other: %s', async (kind) => {
    at = bench(kind);
    execFileSync('chown', ['-R', '65534:65534', at.origin.path]);
    const line = await at.open();
    await line.refuseDirtyOrigin();
    const base = await line.fetch();
    await line.newBranch(SHIFT, base);
    build(at.checkout, 'second', 'first');
    execFileSync('chown', ['-R', '65534:65534', at.checkout]);
    const { commit } = await line.snapshot({ shift: SHIFT });
    const built = await line.buildLanding(base, commit, message);
    expect(await line.publish(built.commit, base)).toBe('landed');
    await line.newBranch('20260102-040506', built.commit);
  });
});

describe('an origin that is a folder with main checked out', () => {
  it('follows the landing with its clean working tree', async () => {
    const { line, base, work } = await worked('checkout');
    writeAll(at.origin.path, { 'debug.log': 'ignored', 'notes.txt': 'untracked' });
    await line.refuseDirtyOrigin();
    await line.push();
    const built = await line.buildLanding(base, work, message);
    expect(await line.publish(built.commit, base)).toBe('landed');
    expect(readFileSync(join(at.origin.path, 'site/machines/second/index.html'), 'utf8')).toBe(
      'index.html of second\n',
    );
    expect(git(at.origin.path, 'status', '--porcelain')).toBe('?? notes.txt');
    expect(readFileSync(join(at.origin.path, 'debug.log'), 'utf8')).toBe('ignored');
  });

  it('is refused when it is dirty, with the files named, staged or not', async () => {
    at = bench('checkout');
    const line = await at.open();
    writeAll(at.origin.path, { 'README.md': 'changed\n', 'staged.txt': 'x' });
    git(at.origin.path, 'add', 'staged.txt');
    await expect(line.refuseDirtyOrigin()).rejects.toMatchObject({
      code: 'origin/dirty',
      data: { files: expect.arrayContaining(['README.md', 'staged.txt']) },
      message: expect.stringContaining('README.md'),
    });
  });

  it('refuses by itself what became dirty later, and nothing there is overwritten', async () => {
    const { line, base, work } = await worked('checkout');
    writeAll(at.origin.path, { 'README.md': 'mine\n' });
    const built = await line.buildLanding(base, work, message);
    expect(await line.publish(built.commit, base)).toBe('refused');
    expect(line.refusal?.mend).toMatch(/Commit, move or remove/);
    expect(readFileSync(join(at.origin.path, 'README.md'), 'utf8')).toBe('mine\n');
    expect(at.origin.tip()).toBe(base);
  });

  it('may have any other branch checked out, however dirty', async () => {
    const { line, base, work } = await worked('checkout');
    git(at.origin.path, 'checkout', '-q', '-b', 'mine');
    writeAll(at.origin.path, { 'README.md': 'mine\n' });
    await line.refuseDirtyOrigin();
    const built = await line.buildLanding(base, work, message);
    expect(await line.publish(built.commit, base)).toBe('landed');
    expect(readFileSync(join(at.origin.path, 'README.md'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(at.origin.path, 'site/machines/second'))).toBe(false);
  });

  it('is itself the origin, and never its own remote', async () => {
    at = bench('checkout');
    git(at.origin.path, 'remote', 'add', 'origin', 'https://example.invalid/x.git');
    expect(await (await at.open()).fetch()).toBe(at.origin.tip());
  });

  it('may be given as a file address', async () => {
    at = bench('checkout');
    const line = await at.open({ origin: `file://${at.origin.path}` });
    expect(await line.fetch()).toBe(at.origin.tip());
    writeAll(at.origin.path, { 'README.md': 'changed\n' });
    await expect(line.refuseDirtyOrigin()).rejects.toMatchObject({ code: 'origin/dirty' });
  });
});

describe('the git dir of the line', () => {
  it('opens again after a death in the middle: locks, a lost HEAD, half-written packs', async () => {
    const { work } = await worked();
    for (const lock of [
      'index.lock',
      'HEAD.lock',
      'packed-refs.lock',
      `refs/heads/shift/${SHIFT}.lock`,
      'objects/pack/tmp_pack_x',
    ]) {
      writeFileSync(join(at.gitDir, lock), '');
    }
    writeFileSync(join(at.gitDir, 'HEAD'), '');
    const line = await at.open();
    await line.fetch();
    expect((await line.stranded()).map((each) => each.commit)).toEqual([work]);
    await line.newBranch('20260102-040506', await line.fetch());
    expect(existsSync(join(at.gitDir, 'HEAD.lock'))).toBe(false);
  });

  it('is packed without losing what only it has', async () => {
    const { line, base, work } = await worked();
    await line.pack();
    expect((await line.current())?.tip).toBe(work);
    expect(await line.publish((await line.buildLanding(base, work, message)).commit, base)).toBe('landed');
  });
});
