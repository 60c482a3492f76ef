import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FactoryError } from '../../support/errors.ts';
import { signalGroup } from '../../support/process.ts';
import { endLeftovers } from '../leftovers.ts';
import type { HarnessRun } from '../types.ts';
import { type Confinement, writable } from './confinement.ts';

/** Ends what carries the run's mark. @throws FactoryError `harness/leftovers` for a process that cannot be ended. */
export async function sweepMarked(run: HarnessRun): Promise<void> {
  const { left } = await endLeftovers(run.data, run.shift);
  if (left.length === 0) return;
  const pids = left.map((process) => process.pid);
  throw new FactoryError('harness/leftovers', {
    message: `the agent's processes ${pids.join(', ')} could not be ended`,
    mend: 'Look at them with `ps`: they wait for something in the kernel. The next shift starts when they are gone.',
    data: { pids },
  });
}

/**
 * Makes what the agent left readable and removable for its owner, which the orchestrator is: a folder that was shut
 * would stop a snapshot. Links are not followed; no process of the run is left to move things under its feet.
 */
export async function reopen(folders: string[]): Promise<void> {
  const walk = async (path: string): Promise<void> => {
    const at = await lstat(path);
    const needed = at.isDirectory() ? 0o700 : at.isFile() ? 0o400 : 0;
    if ((at.mode & needed) !== needed) await chmod(path, (at.mode & 0o777) | needed);
    if (at.isDirectory()) for (const name of await readdir(path)) await walk(join(path, name));
  };
  for (const folder of folders) await walk(folder);
}

/** No confinement: the agent is the orchestrator's own user and can read all it can. Its environment is still bare. */
export const none: Confinement = {
  kind: 'none',
  prepare: async () => {},
  wrap: async (command) => command,
  ask: (pid) => {
    signalGroup(pid, 'SIGTERM');
  },
  sweep: sweepMarked,
  reclaim: async () => {},
  release: (run) => reopen(writable(run)),
};
