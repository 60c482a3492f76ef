import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { lastReset } from '../session/last-reset.ts';
import { logPath } from '../session/read.ts';
import type { Stretch } from '../session/scan.ts';
import { wellFormedJson } from '../support/json.ts';
import { Conversations } from './conversations.ts';
import { factsOf, head } from './facts.ts';
import { RowImages } from './images.ts';
import { Acts, Looking } from './looking.ts';
import { type MachineryBlock, ordered } from './machinery.ts';
import { Spool } from './spool.ts';
import type { TrajectoryFacts } from './types.ts';
import { type Frame, earliest, joined, opening, walkLog } from './walk.ts';

export interface RowOptions {
  sessions: string;
  /** Oldest first; the last one names the row. */
  chain: string[];
  /** The folder to fill; it is there and empty. */
  folder: string;
  snapshots: boolean;
  machinery?: ((facts: TrajectoryFacts) => MachineryBlock | undefined) | undefined;
}

type Act = Parameters<Looking['add']>[0];

/** Renders stretches of a chain's logs, and gathers what they say beside their conversations. */
class Rendering {
  readonly images: RowImages;
  readonly events = new Map<string, number>();
  readonly #sessions: string;
  readonly #snapshots: boolean;
  readonly #acts = new Acts();

  constructor({ sessions, folder, snapshots }: RowOptions) {
    this.#sessions = sessions;
    this.#snapshots = snapshots;
    this.images = new RowImages(sessions, folder);
  }

  /**
   * @param to where conversations go; null when they are only looked at.
   * @param note is told each act, and null where another conversation begins.
   */
  async read(
    session: string,
    stretch: Stretch,
    to: { conversations: Conversations; spool: Spool } | null,
    note: (act: Act | null) => void,
  ): Promise<Frame> {
    const restart = async (): Promise<void> => {
      await to?.conversations.supersede();
      if (!this.#snapshots) this.images.forget();
      this.#acts.restart();
      note(null);
    };
    await restart();
    return walkLog(logPath(this.#sessions, session), stretch, {
      restart,
      event: (kind) => void this.events.set(kind, (this.events.get(kind) ?? 0) + 1),
      message: (message, literals) => {
        const act = this.#acts.of(message);
        if (act) note(act);
        if (to === null) return undefined;
        const { conversations, spool } = to;
        if (!message.images) {
          conversations.add(message, [], literals);
          return spool.full ? spool.drain() : undefined;
        }
        return this.images.take(session, message.images).then((paths) => {
          conversations.add(message, paths, literals);
          return spool.drain();
        });
      },
    });
  }
}

/** Puts a row behind another head. @returns the new row's spool; the old one is closed. */
async function behind(text: string, row: Spool, from: number, path: string): Promise<Spool> {
  const other = await Spool.create(`${path}.head`);
  other.push(text);
  await other.copy(row, from, await row.flush());
  await row.close();
  await rename(`${path}.head`, path);
  return other;
}

/**
 * Writes a chain's row and images into a folder, in one pass over its logs that holds no conversation in memory.
 *
 * A row has its last conversation first, so that one is rendered first, to a spool on the disk; those it superseded then
 * go straight to the row. What the row's head says is known before they are read unless a log is odd (a line in its middle
 * that is not JSON, a result before a reset): then the row is copied behind the right head.
 */
export async function writeRow(options: RowOptions): Promise<TrajectoryFacts> {
  const { sessions, chain, folder, snapshots } = options;
  const last = chain.at(-1) as string;
  const path = join(folder, `${last}.jsonl`);
  const spool = await Spool.scratch(join(folder, 'spool'));
  let row = await Spool.create(path);
  const rendering = new Rendering(options);
  try {
    const cut = await lastReset(logPath(sessions, last));
    const later: (Act | null)[] = [];
    const final = new Conversations(spool, snapshots);
    const tail = await rendering.read(last, { from: cut }, { conversations: final, spool }, (act) => later.push(act));
    const written = await final.finish();
    rendering.images.goBefore();

    const openings = await Promise.all(chain.map((session) => opening(logPath(sessions, session))));
    const whole = cut === 0 ? tail : joined(openings.at(-1) as Frame, tail);
    const guess = head(factsOf(chain, whole, earliest(openings.map(({ started }) => started))));
    row.push(`${guess},"messages":${written.counts.messages === 0 ? '[]' : ''}`);
    await row.copy(spool, written.messages.from, written.messages.to);

    const looking = new Looking();
    const look = (act: Act | null): void => (act === null ? looking.restart() : looking.add(act));
    const old = new Conversations(row, true, ',"snapshots":[');
    const to = snapshots ? { conversations: old, spool: row } : null;
    const frames: Frame[] = [];
    for (const session of chain) {
      const stretch = session === last ? { to: cut } : {};
      if (session !== last || cut > 0) frames.push(await rendering.read(session, stretch, to, look));
    }
    await old.supersede();
    for (const act of later) look(act);
    const superseded = old.superseded + written.counts.snapshots;
    if (written.counts.snapshots > 0) row.push(old.superseded > 0 ? ',' : ',"snapshots":[');
    await row.copy(spool, written.snapshots.from, written.snapshots.to);
    if (superseded > 0) row.push(']');
    await rendering.images.settle();

    if (cut === 0) frames.push(tail);
    else frames.push(joined(frames.pop() as Frame, tail));
    const facts = factsOf(chain, frames.at(-1) as Frame, earliest(frames.map(({ started }) => started)), {
      images: rendering.images.list,
      events: rendering.events,
      counts: { ...written.counts, snapshots: superseded },
      looked: looking.looked,
    });
    const right = head(facts);
    if (right !== guess) row = await behind(right, row, Buffer.byteLength(guess), path);
    if (facts.images.length > 0) row.push(`,"images":${JSON.stringify(facts.images)}`);
    if (Object.keys(facts.events).length > 0) row.push(`,"events":${wellFormedJson(facts.events)}`);
    const block = options.machinery?.(facts);
    if (block) row.push(`,"machinery":${wellFormedJson(ordered(block))}`);
    row.push('}\n');
    await row.sync();
    return facts;
  } finally {
    await Promise.all([rendering.images.quiet(), spool.close(), row.close()]);
  }
}
