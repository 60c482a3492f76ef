import type { Line } from '../line/line.ts';
import { FactoryError } from '../support/errors.ts';
import { listShifts, readRecord } from './record.ts';
import type { Context } from './station.ts';

/** It will be no better another time; a disk that is full will. */
const UNSAVABLE = new Set(['line/too-large', 'line/checkout']);

/**
 * Saves what an earlier shift could not (its disk was full when it took its last snapshot): the checkout still has the
 * work, and laying out a new one would lose it. Nothing is committed when the branch has it all. A checkout that no
 * snapshot can hold is given up, or no shift would ever open again: its branch has what was saved before.
 */
export async function saveLeftWork({ config, id, log }: Context, line: Line): Promise<void> {
  const left = await line.current();
  if (left === null) return;
  for (const earlier of (await listShifts(config.data)).reverse()) {
    const record = earlier === id ? null : await readRecord(config.data, earlier);
    if (record?.branch !== left.branch) continue;
    const note = { shift: earlier, session: record.session, continued: record.continued };
    const { changed } = await line.snapshot(note).catch((error: unknown) => {
      if (!(error instanceof FactoryError) || !UNSAVABLE.has(error.code)) throw error;
      log.warn({ err: error, branch: left.branch }, 'what an earlier shift left cannot be saved');
      return { changed: false };
    });
    if (changed) log.warn({ branch: left.branch }, 'saved work that an earlier shift could not snapshot');
    return;
  }
}
