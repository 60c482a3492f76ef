import { wellFormedJson } from '../support/json.ts';
import type { SessionResult } from '../session/types.ts';
import type { TrajectoryFacts } from './types.ts';
import type { Frame } from './walk.ts';

/** A result as recorded; of one nested too deep to be written, only what is flat. */
function writable(result: SessionResult): SessionResult {
  try {
    JSON.stringify(result);
    return result;
  } catch {
    const flat = Object.entries(result).filter(([, value]) => typeof value !== 'object');
    return Object.fromEntries(flat) as unknown as SessionResult;
  }
}

/** What the conversations of a chain come to. */
interface Gathered {
  images: string[];
  events: Map<string, number>;
  counts: Omit<TrajectoryFacts['counts'], 'images'>;
  looked: TrajectoryFacts['looked'];
}

const NOTHING: Gathered = {
  images: [],
  events: new Map(),
  counts: { messages: 0, snapshots: 0, calls: 0 },
  looked: { views: 0, afterChange: 0 },
};

/** Puts together what is known of a trajectory. @param last the last session's frame. */
export function factsOf(chain: string[], last: Frame, started: string, gathered: Gathered = NOTHING): TrajectoryFacts {
  const { images, events, counts, looked } = gathered;
  return {
    id: chain.at(-1) as string,
    chain,
    task: last.meta?.task ?? '',
    model: last.meta?.model ?? '',
    provider: last.meta?.provider ?? '',
    driver: last.meta?.driver ?? '',
    ...(last.meta?.workdir === undefined ? {} : { workdir: last.meta.workdir }),
    started,
    ended: last.ended,
    outcome: last.result?.reason ?? '',
    ...(last.result ? { result: writable(last.result) } : {}),
    complete: last.result !== undefined,
    truncated: last.truncated,
    images,
    events: Object.fromEntries([...events].sort(([a], [b]) => (a < b ? -1 : 1))),
    counts: { ...counts, images: images.length },
    looked,
  };
}

/** A row's keys before its messages, without the closing brace. */
export function head(facts: TrajectoryFacts): string {
  const { id, chain, task, model, provider, driver, workdir, started, ended, result: outcome, complete } = facts;
  const truncated = facts.truncated || undefined;
  const keys = { id, chain, task, model, provider, driver, workdir, started, ended, outcome, complete, truncated };
  return wellFormedJson(keys).slice(0, -1);
}
