import type { Line } from '../line/line.ts';
import { listShifts, readRecord } from './record.ts';
import type { Context } from './station.ts';

/**
 * Saves what an earlier shift could not (its disk was full when it took its last snapshot): the checkout still has the
 * work, and laying out a new one would lose it. Nothing is committed when the branch has it all.
 */
export async function saveLeftWork({ config, id, log }: Context, line: Line): Promise<void> {
  const left = await line.current();
  if (left === null) return;
  for (const earlier of (await listShifts(config.data)).reverse()) {
    const record = earlier === id ? null : await readRecord(config.data, earlier);
    if (record?.branch !== left.branch) continue;
    const { changed } = await line.snapshot({ shift: earlier, session: record.session, continued: record.continued });
    if (changed) log.warn({ branch: left.branch }, 'saved work that an earlier shift could not snapshot');
    return;
  }
}
