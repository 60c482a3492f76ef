import type { Line } from '../line/line.ts';
import { listShifts, readRecord } from './record.ts';
import { sessionFolderOf } from './sessions.ts';
import type { Context } from './station.ts';

/** How far back is looked: four days of shifts that found no origin. */
const LOOKED_AT = 200;

/**
 * Makes up for what could not be finished while the origin was away: a shift that had landed when its process died is on
 * main, and its row is not made. The caller has fetched.
 */
export async function makeUp({ id, config, store, log }: Context, line: Line): Promise<void> {
  const earlier = (await listShifts(config.data)).filter((shift) => shift !== id).slice(-LOOKED_AT);
  for (const shift of earlier) {
    const record = await readRecord(config.data, shift);
    if (record?.verdict !== 'interrupted' || record.session === null || (await store.made(record.session))) continue;
    if ((await line.landedAs(shift)) === null || !(await sessionFolderOf(config.data, record.session))) continue;
    log.warn({ of: shift }, 'it had landed when its process died: its row is made now');
    const { finish } = await import('./finish-one.ts');
    await finish(config, record);
  }
}
