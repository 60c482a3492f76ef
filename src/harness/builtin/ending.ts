import type { SessionResult } from '../../session/types.ts';

/** How a run ended, before its counts are added. */
export type Ending = Pick<SessionResult, 'reason' | 'message' | 'error' | 'failure'>;

/** However a run ends, it ends by throwing this: a verdict, a limit, a guard, a signal, the provider. */
export class Stop extends Error {
  override name = 'Stop';
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.message ?? ending.reason);
    this.ending = ending;
  }
}
