import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/load.ts';
import { DatasetStore } from '../dataset/store.ts';
import { endStrays } from '../harness/confine/strays.ts';
import { layOut, sweepData } from './data-folder.ts';
import { type ShiftRecord, listShifts, readRecord, shiftFolder } from './record.ts';

/**
 * Finishes the shifts of a process that died: its agent is ended, its work snapshotted, its session exported, its record
 * closed as `interrupted`. The caller holds the data folder's lock, so whoever worked them is gone. Doing it twice
 * changes nothing.
 * @returns the records that were finished.
 */
export async function finishInterrupted(config: Config): Promise<ShiftRecord[]> {
  await layOut(config.data);
  const { trouble } = await endStrays(config.data, config.agent.user);
  if (trouble) throw trouble;
  await new DatasetStore(join(config.data, 'dataset')).sweep();
  await sweepData(config.data);
  const finished: ShiftRecord[] = [];
  for (const record of await unfinished(config.data)) {
    // All that finishing takes is loaded only when there is something to finish: a start is to be quick.
    const { finish } = await import('./finish-one.ts');
    finished.push(await finish(config, record));
  }
  for (const name of ['trees', 'scratch']) await empty(join(config.data, name));
  return finished;
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}

/** How many records are read at a time. */
const AT_ONCE = 64;

/** Records without a verdict, oldest first. Thousands may be there after months, so only what looks like one is parsed. */
async function unfinished(data: string): Promise<ShiftRecord[]> {
  const found: ShiftRecord[] = [];
  const ids = await listShifts(data);
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const looked = ids.slice(at, at + AT_ONCE).map(async (id) => {
      const text = await readFile(join(shiftFolder(data, id), 'shift.json'), 'utf8').catch(() => '');
      return /"verdict":\s*null/.test(text) ? readRecord(data, id) : null;
    });
    for (const record of await Promise.all(looked)) if (record?.verdict === null) found.push(record);
  }
  return found;
}
