import { type Options, type ResultPromise, execa } from 'execa';
import { FactoryError } from './errors.ts';

/** The one place where processes are started: group, environment, limits and what is told when one fails. */

export interface RunOptions {
  cwd?: string;
  /** The whole environment of the process: nothing is inherited unless given here. Default: this process's own. */
  env?: Record<string, string>;
  input?: string;
  /** Ends the process (SIGKILL to its group) after this many milliseconds. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface RunResult {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  signal: string | null;
}

/** Sends a signal to a process group; a group that is gone already is not an error. @returns whether anything was there. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return true;
    return false;
  }
}

function options(given: RunOptions): Options {
  return {
    ...(given.cwd === undefined ? {} : { cwd: given.cwd }),
    ...(given.env === undefined ? {} : { env: given.env, extendEnv: false }),
  };
}

/**
 * Runs a program in a process group of its own and waits for it.
 * A non-zero exit is a result, not an error; a program that is not installed is `process/missing`.
 * Nothing the program started in its group outlives the call.
 */
export async function run(file: string, args: string[], given: RunOptions = {}): Promise<RunResult> {
  const child = execa(file, args, {
    ...options(given),
    ...(given.input === undefined ? { stdin: 'ignore' } : { input: given.input }),
    detached: true,
    cleanup: false,
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 64 * 1024 * 1024,
  });
  const end = () => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL');
  const timer = given.timeoutMs === undefined ? undefined : setTimeout(end, given.timeoutMs);
  given.signal?.addEventListener('abort', end, { once: true });
  if (given.signal?.aborted) end();
  // A grandchild that keeps stdout open would hold the result back for ever: once the program exits its group goes too.
  child.once('exit', end);
  try {
    const result = await child;
    if (result.code === 'ENOENT') throw missing(file);
    return {
      stdout: String(result.stdout ?? ''),
      stderr: String(result.stderr ?? ''),
      exitCode: result.exitCode ?? null,
      signal: result.signal ?? null,
    };
  } finally {
    clearTimeout(timer);
    given.signal?.removeEventListener('abort', end);
  }
}

/** The error for a program that is not installed. */
export function missing(file: string): FactoryError {
  return new FactoryError('process/missing', {
    message: `the program \`${file}\` is not installed`,
    mend: `Install ${file}, or put it on the PATH.`,
    data: { file },
  });
}

/**
 * Starts a long-lived program as the leader of its own process group and returns execa's handle.
 * The caller drains its output and ends the group with `signalGroup(child.pid, …)`.
 */
export function start(
  file: string,
  args: string[],
  given: RunOptions & { stdio?: Options['stdio'] } = {},
): ResultPromise {
  return execa(file, args, {
    ...options(given),
    stdio: given.stdio ?? ['ignore', 'pipe', 'pipe'],
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
  }) as unknown as ResultPromise;
}
