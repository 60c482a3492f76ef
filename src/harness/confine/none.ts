import { FactoryError } from '../../support/errors.ts';
import { signalGroup } from '../../support/process.ts';
import { endLeftovers } from '../leftovers.ts';
import type { HarnessRun } from '../types.ts';
import type { Confinement } from './confinement.ts';

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
  release: async () => {},
};
