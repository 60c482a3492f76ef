import { type FactoryError, asFactoryError } from '../../support/errors.ts';
import { endLeftovers } from '../leftovers.ts';
import { accountOf, effectiveCapabilities, has } from './account.ts';
import { sweepUser } from './user.ts';

/**
 * Ends what the agents of a dead orchestrator left: every process that carries the data folder's mark, and every process
 * of the agent's user where there is one and the orchestrator may switch to it (its environment cannot be read then).
 * @returns how many marked processes were ended, and the trouble there was, if any.
 */
export async function endStrays(data: string, user: string): Promise<{ ended: number; trouble: FactoryError | null }> {
  const { ended } = await endLeftovers(data);
  const power = effectiveCapabilities();
  if (!has(power, 'SETUID') || !has(power, 'SETGID')) return { ended, trouble: null };
  const account = await accountOf(user).catch(() => null);
  if (account === null) return { ended, trouble: null };
  const trouble = await sweepUser(account).then(
    () => null,
    (error: unknown) => asFactoryError(error),
  );
  return { ended, trouble };
}
