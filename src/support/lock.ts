import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { FactoryError } from './errors.ts';
import { run, start } from './process.ts';

/** Who holds a data folder. */
export interface Holder {
  pid: number;
  host: string;
  since: string;
}

export interface Lock {
  release(): Promise<void>;
}

/** flock(1) exits with this when somebody else holds the lock (we choose it with --conflict-exit-code). */
const HELD = 75;

/**
 * Takes flock(2) on an open file through flock(1), which shares our file description and leaves the lock with it: the
 * kernel lets go when this process dies, however it dies, and Node opens files so that no child inherits them by chance.
 */
async function flock(file: FileHandle, wait: boolean, signal?: AbortSignal): Promise<boolean> {
  const child = start('flock', [...(wait ? [] : ['--nonblock']), '--conflict-exit-code', String(HELD), '0'], {
    // execa's types know the descriptors 0, 1 and 2 only; any open one works
    stdio: [file.fd as 0, 'ignore', 'ignore'],
  });
  const end = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  const { exitCode, code } = await child;
  signal?.removeEventListener('abort', end);
  if (exitCode === 0) return true;
  if (exitCode === HELD || signal?.aborted) return false;
  throw new FactoryError('process/missing', {
    message: `flock could not lock the data folder (${code ?? `exit code ${exitCode}`})`,
    mend: 'Install util-linux (its `flock` holds the lock), or move the data folder to a file system that can lock.',
  });
}

/** The holder as written in the lock file; null when it says nothing. */
export async function lockHolder(data: string): Promise<Holder | null> {
  const file = await open(join(data, 'lock'), constants.O_RDONLY).catch(() => null);
  if (!file) return null;
  try {
    return JSON.parse(await file.readFile('utf8')) as Holder;
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** Whether somebody holds the lock now. The answer is old as soon as it is given: for telling, not for deciding. */
export async function isHeld(data: string): Promise<boolean> {
  const file = join(data, 'lock');
  if (!existsSync(file)) return false;
  const ask = ['--shared', '--nonblock', '--conflict-exit-code', String(HELD), file, 'true'];
  return (await run('flock', ask)).exitCode === HELD;
}

/**
 * Locks the data folder for this process.
 * @param wait whether to wait for whoever holds it; otherwise FactoryError `lock/held`, naming the holder's pid and host.
 */
export async function lock(
  data: string,
  { wait = false, signal }: { wait?: boolean; signal?: AbortSignal } = {},
): Promise<Lock> {
  await mkdir(data, { recursive: true, mode: 0o700 });
  const file = await open(join(data, 'lock'), constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    if (!(await flock(file, wait, signal))) throw await held(data);
    await file.truncate(0);
    const holder: Holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
    await file.write(`${JSON.stringify(holder)}\n`, 0);
    return { release: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function held(data: string): Promise<FactoryError> {
  const holder = await lockHolder(data);
  const who = holder ? `process ${holder.pid} on ${holder.host}, since ${holder.since}` : 'another process';
  return new FactoryError('lock/held', {
    message: `${data} is in use by ${who}`,
    mend: 'Wait for it (leave out --no-wait), stop it, or give this factory another folder with MACHINERY_DATA.',
    data: { ...holder },
  });
}
