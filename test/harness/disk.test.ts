import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesIn } from '../../src/harness/disk.ts';
import { drive } from '../../src/harness/driver.ts';
import type { HarnessRun } from '../../src/harness/types.ts';
import { type Bench, META, makeBench } from './bench.ts';

describe('what a folder takes of its disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'machinery-disk-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is what was written below it: not what a sparse file pretends, nor what a link leads to', async () => {
    await mkdir(join(folder, 'deep/er'), { recursive: true });
    await writeFile(join(folder, 'deep/er/file'), Buffer.alloc(1_000_000, 'x'));
    await writeFile(join(folder, 'sparse'), '');
    await truncate(join(folder, 'sparse'), 10 ** 12);
    await symlink('/usr', join(folder, 'link'));
    const bytes = await bytesIn(folder, Infinity);
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(bytes).toBeLessThan(1_100_000);
  });

  it('counts a flood of empty files, and no further than asked', async () => {
    for (let n = 0; n < 200; n += 1) await writeFile(join(folder, `${n}`), '');
    expect(await bytesIn(folder, Infinity)).toBe(200 * 4096);
    expect(await bytesIn(folder, 10 * 4096)).toBe(11 * 4096);
  });

  it('is nothing where there is none', async () => {
    expect(await bytesIn(join(folder, 'gone'), Infinity)).toBe(0);
  });
});

describe('an agent that fills the disk', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await makeBench();
  });
  afterEach(() => bench.remove());

  const runs = (script: string, disk: { used: number; free: number }) => {
    const run: HarnessRun = { ...bench.run, limits: { ...bench.run.limits, graceMs: 60_000, disk } };
    return drive(bench.shell(script), run, { signal: new AbortController().signal });
  };

  it('is stopped, also when it is deaf to being asked', async () => {
    const script = `trap '' TERM; printf '%s\\n' '${META}' > "$1/20260101-000000.jsonl"
      head -c 3000000 /dev/zero > a; head -c 3000000 /dev/zero > "$TMPDIR/b"; while :; do sleep 0.1; done`;
    const outcome = await runs(script, { used: 5_000_000, free: 0 });
    expect(outcome).toMatchObject({ cut: 'disk', signal: 'SIGKILL', session: '20260101-000000' });
    expect(outcome.over).toMatch(/^it wrote more than 5\.0 MB, at least \d\.\d MB of it in (checkout|run)$/);
  });

  it('is stopped when hardly any space is left, whoever took it', async () => {
    const outcome = await runs('sleep 60', { used: 10 ** 12, free: 10 ** 18 });
    expect(outcome).toMatchObject({ cut: 'disk', over: expect.stringContaining('must stay free') });
  });

  it('is not held to account for what earlier sessions left', async () => {
    await writeFile(join(bench.run.sessions, '20250101-000000.jsonl'), Buffer.alloc(6_000_000));
    expect(await runs('sleep 2.5; exit 3', { used: 5_000_000, free: 0 })).toMatchObject({ cut: null, exitCode: 3 });
  });

  it('writes no single file past the limit, and leaves no core', async () => {
    await runs('head -c 9000000 /dev/zero > big; kill -SEGV $$', { used: 5_000_000, free: 0 });
    expect(await bytesIn(bench.run.checkout, Infinity)).toBeLessThan(5_100_000);
  });

  it('is told apart from one that cannot be started at all', async () => {
    const file = join(bench.folder, 'broken');
    await writeFile(file, '#!/nowhere/interpreter\n', { mode: 0o755 });
    const harness = { ...bench.shell(''), command: async () => ({ file, args: [], env: {} }) };
    const run = { ...bench.run, limits: { ...bench.run.limits, disk: { used: 10 ** 9, free: 0 } } };
    const going = drive(harness, run, { signal: new AbortController().signal });
    await expect(going).rejects.toMatchObject({ code: 'harness/cannot-start' });
  });
});
