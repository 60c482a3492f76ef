import { join } from 'node:path';
import type { SessionResult } from '../session/types.ts';
import { Conversations } from './conversations.ts';
import { RowImages } from './images.ts';
import { Looking } from './looking.ts';
import { type MachineryBlock, ordered } from './machinery.ts';
import { Spool } from './spool.ts';
import type { TrajectoryFacts } from './types.ts';
import { walkChain } from './walk.ts';

export interface RowOptions {
  sessions: string;
  /** Oldest first; the last one names the row. */
  chain: string[];
  /** The folder to fill; it is there and empty. */
  folder: string;
  snapshots: boolean;
  machinery?: ((facts: TrajectoryFacts) => MachineryBlock | undefined) | undefined;
}

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

/** Renders a chain's conversations to a spool and its images to the folder. */
async function render(options: RowOptions, spool: Spool) {
  const { sessions, chain, folder, snapshots } = options;
  const images = new RowImages(sessions, folder);
  const conversations = new Conversations(spool, snapshots);
  const looking = new Looking();
  const frame = await walkChain(sessions, chain, {
    async restart() {
      await conversations.supersede();
      if (!snapshots) images.forget();
      looking.restart();
    },
    message(message, literals, session) {
      looking.add(message);
      if (!message.images) {
        conversations.add(message, [], literals);
        return spool.full ? spool.drain() : undefined;
      }
      return images.take(session, message.images).then((paths) => {
        conversations.add(message, paths, literals);
        return spool.drain();
      });
    },
  });
  const written = await conversations.finish();
  await images.settle();
  return { ...frame, ...written, images: images.list, looked: looking.looked };
}

type Rendered = Awaited<ReturnType<typeof render>>;

function factsOf(chain: string[], rendered: Rendered): TrajectoryFacts {
  const { last, started, events, images, looked, counts } = rendered;
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
    events,
    counts: { ...counts, images: images.length },
    looked,
  };
}

/** The row's keys before its messages, without the closing brace. */
function head(facts: TrajectoryFacts): string {
  const { id, chain, task, model, provider, driver, workdir, started, ended, result: outcome, complete } = facts;
  const truncated = facts.truncated || undefined;
  const keys = { id, chain, task, model, provider, driver, workdir, started, ended, outcome, complete, truncated };
  return JSON.stringify(keys).slice(0, -1);
}

/**
 * Writes a chain's row and images into a folder, in one pass over its logs that holds no conversation in memory: each is
 * rendered to a spool on the disk, and the row, which has the last one first, is put together from there.
 */
export async function writeRow(options: RowOptions): Promise<TrajectoryFacts> {
  const { chain, folder } = options;
  const spool = await Spool.scratch(join(folder, 'spool'));
  const row = await Spool.create(join(folder, `${chain.at(-1)}.jsonl`));
  try {
    const rendered = await render(options, spool);
    const facts = factsOf(chain, rendered);
    const { messages, snapshots } = rendered;
    row.push(`${head(facts)},"messages":${facts.counts.messages === 0 ? '[]' : ''}`);
    await row.copy(spool, messages.from, messages.to);
    if (facts.counts.snapshots > 0) {
      row.push(',"snapshots":[');
      await row.copy(spool, snapshots.from, snapshots.to);
      row.push(']');
    }
    if (facts.images.length > 0) row.push(`,"images":${JSON.stringify(facts.images)}`);
    if (Object.keys(facts.events).length > 0) row.push(`,"events":${JSON.stringify(facts.events)}`);
    const block = options.machinery?.(facts);
    if (block) row.push(`,"machinery":${JSON.stringify(ordered(block))}`);
    row.push('}\n');
    await row.sync();
    return facts;
  } finally {
    await Promise.all([spool.close(), row.close()]);
  }
}
