import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processTable, readProcess } from '../../src/support/proc.ts';
import type { Harness, HarnessRun } from '../../src/harness/types.ts';

/** A run's folders in a temporary place, and harnesses that are small scripts. */
export interface Bench {
  folder: string;
  run: HarnessRun;
  /** A harness whose command is this shell script; `$1` is the session folder, `$2` the scratch folder. */
  shell(script: string): Harness;
  /** A harness whose command is this Node program (CommonJS); `process.argv[2]` is the session folder. */
  node(program: string): Harness;
  remove(): Promise<void>;
}

/** One line of a session log, as shell-safe JSON. */
export const line = (value: object) => JSON.stringify({ at: '2026-01-01T00:00:00.000Z', ...value });

export const META = line({
  kind: 'meta',
  meta: { id: '20260101-000000', task: 't', model: 'm', provider: 'p', driver: 'd' },
});

export const SETTLED = line({
  kind: 'result',
  result: {
    reason: 'settled',
    message: 'done',
    code: 0,
    iterations: 1,
    calls: 0,
    continuations: 0,
    cycles: 0,
    settles: 0,
  },
});

/** Makes the folders of a run. */
export async function makeBench(over: Partial<HarnessRun> = {}): Promise<Bench> {
  // Not below /tmp alone: the data folder is where the product has it, with the run's folders inside.
  const folder = await mkdtemp(join(tmpdir(), 'machinery-driver-'));
  const data = join(folder, 'data');
  const at = (name: string) => join(data, name);
  for (const path of ['checkout', 'sessions/chain', 'records/run', 'scratch/run', 'shifts']) {
    await mkdir(at(path), { recursive: true, mode: 0o700 });
  }
  await chmod(folder, 0o755);
  await chmod(data, 0o700);
  const order = join(at('scratch/run'), 'order.yaml');
  await writeFile(order, 'objective: Do it.\n');
  const run: HarnessRun = {
    shift: '20260101-000000',
    checkout: at('checkout'),
    sessions: at('sessions/chain'),
    records: at('records/run'),
    scratch: at('scratch/run'),
    order,
    model: {
      provider: 'scripted',
      model: 'scripted-1',
      baseUrl: 'http://127.0.0.1:9/v1',
      token: 'relay-token-0123456789',
      vision: true,
      context: 32_768,
    },
    limits: { timeMs: 20_000, graceMs: 300, iterations: 20 },
    sandbox: 'none',
    env: {},
    agentLog: join(at('shifts'), 'agent.log'),
    data,
    ...over,
  };
  return {
    folder,
    run,
    shell: (script) => ({
      name: 'builtin',
      version: async () => '0',
      command: async ({ sessions, scratch }) => ({
        file: '/bin/sh',
        args: ['-c', script, 'harness', sessions, scratch],
        env: {},
      }),
    }),
    node: (program) => ({
      name: 'builtin',
      version: async () => '0',
      command: async ({ sessions, scratch }) => {
        const file = join(scratch, 'harness.cjs');
        await writeFile(file, program);
        return { file: process.execPath, args: [file, sessions, scratch], env: {} };
      },
    }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Whether a process is alive (a dead one that nobody reaped is not). */
export const alive = (pid: number): boolean => readProcess(pid) !== null;

/** Pids of the processes with exactly this command line. */
export async function running(command: string): Promise<number[]> {
  const found: number[] = [];
  for (const { pid } of processTable()) {
    const text = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (text.split('\0').filter(Boolean).join(' ') === command && alive(pid)) found.push(pid);
  }
  return found;
}
