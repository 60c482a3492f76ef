import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lock } from '../../src/support/lock.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'machinery-lock-'));
});
afterEach(() => rm(data, { recursive: true, force: true }));

/** Another process that holds the lock as this product does: flock(1) on a shared file description. */
async function holder(): Promise<ChildProcess> {
  const child = spawn('flock', ['--nonblock', join(data, 'lock'), 'sh', '-c', 'echo held; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return child;
}

it('refuses a second holder and names the first by pid and host', async () => {
  const first = await lock(data);
  await expect(lock(data)).rejects.toMatchObject({
    code: 'lock/held',
    message: expect.stringContaining(`process ${process.pid} on `),
  });
  await first.release();
  await (await lock(data)).release();
});

it('is free as soon as its holder is killed, whatever the lock file still says', async () => {
  const other = await holder();
  await expect(lock(data)).rejects.toMatchObject({ code: 'lock/held' });
  process.kill(-(other.pid as number), 'SIGKILL');
  const mine = await lock(data, { wait: true });
  await mine.release();
});

it('stops waiting when told to', async () => {
  const first = await lock(data);
  const stop = new AbortController();
  const waiting = lock(data, { wait: true, signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'lock/held' });
  await first.release();
});
