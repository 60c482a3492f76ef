import type { FactoryStatus } from './types.ts';

/** Whether a factory that answers works as it should. A schedule that lost its next tick without being paused never works again, and nothing else shows that. */
export function healthOf({ state, nextTick, paused }: Pick<FactoryStatus, 'state' | 'nextTick' | 'paused'>): {
  ok: boolean;
  state: FactoryStatus['state'];
} {
  return { ok: !(state === 'waiting' && nextTick === null && paused === null), state };
}
