import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/load.ts';
import { Outbox } from '../dataset/outbox.ts';
import { DatasetStore } from '../dataset/store.ts';
import type { Line } from '../line/line.ts';
import { listSessions, logPath, newestSession } from '../session/read.ts';
import { factoryId } from '../shift/factory-id.ts';
import { openLine } from '../shift/open-line.ts';
import { listShifts, readRecord, shiftFolder } from '../shift/record.ts';

/** What was cleared. */
export interface Tidied {
  /** Whole shift folders. */
  shifts: number;
  /** Pictures in shift folders that stay. */
  screenshots: number;
  /** Folders of session chains. */
  sessions: number;
  /** Whether the line's git dir was packed. */
  packed: boolean;
}

const DAY_MS = 86_400_000;
/** git's own measure (`gc.auto` is 6700 loose objects): so many in one of the 256 folders that they are spread over. */
const LOOSE_IN_ONE_FOLDER = 27;

/**
 * Clears what is older than `retention` says and nothing needs, and packs the line's git dir now and then. For the quiet
 * between two shifts, by whoever holds the data folder's lock. Rows, the outbox and quarantine are never touched.
 */
export async function tidy(
  config: Config,
  log: Pick<Logger, 'info' | 'warn'>,
  now: Date = new Date(),
): Promise<Tidied> {
  const line = existsSync(join(config.data, 'line.git'))
    ? await openLine({ config, factory: await factoryId(config.data) })
    : null;
  const stranded = (await line?.stranded()) ?? [];
  const needed = {
    shifts: new Set(stranded.flatMap(({ shift, branch }) => [shift, branch.replace('shift/', '')])),
    sessions: new Set(stranded.flatMap(({ session }) => session ?? [])),
  };
  await new DatasetStore(join(config.data, 'dataset')).sweep();
  const tidied: Tidied = {
    ...(await tidyShifts(config, needed.shifts, now)),
    sessions: await tidySessions(config, needed.sessions, now),
    packed: line !== null && (await pack(config.data, line, now)),
  };
  if (tidied.shifts + tidied.screenshots + tidied.sessions > 0 || tidied.packed) log.info({ ...tidied }, 'tidied up');
  return tidied;
}

/** When something of this id was begun: ids are UTC seconds. */
function begun(id: string): number {
  return Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d).*/, '$1-$2-$3T$4:$5:$6Z'));
}

/** The shifts of this UTC day stay whatever `retention` says: what they cost counts against `cost_per_day`. */
async function tidyShifts(
  config: Config,
  needed: Set<string>,
  now: Date,
): Promise<{ shifts: number; screenshots: number }> {
  const { data, retention } = config;
  const today = now.toISOString().slice(0, 10).replaceAll('-', '');
  const cleared = { shifts: 0, screenshots: 0 };
  const ids = await listShifts(data);
  for (const id of ids.slice(0, -1)) {
    const age = now.getTime() - begun(id);
    if (needed.has(id) || age < Math.min(retention.shifts, retention.screenshots)) continue;
    if ((await readRecord(data, id))?.verdict === null) continue;
    if (age >= retention.shifts && !id.startsWith(today)) {
      await rm(shiftFolder(data, id), { recursive: true });
      cleared.shifts += 1;
    } else if (age >= retention.screenshots) {
      cleared.screenshots += await clearPictures(shiftFolder(data, id));
    }
  }
  return cleared;
}

async function clearPictures(folder: string): Promise<number> {
  const pictures = (await readdir(folder)).filter((name) => name.endsWith('.png'));
  for (const name of pictures) await rm(join(folder, name));
  return pictures.length;
}

/** A chain's folder goes when it is old, its last session is a row that left (or has nowhere to go), and no branch goes on with it. */
async function tidySessions(config: Config, needed: Set<string>, now: Date): Promise<number> {
  const root = join(config.data, 'sessions');
  const store = new DatasetStore(join(config.data, 'dataset'));
  const leaves = config.dataset.hub.repo !== undefined;
  const waiting = new Set(leaves ? await new Outbox(config.data).ids() : []);
  let cleared = 0;
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const folder = join(root, name);
    const last = await newestSession(folder);
    if (last === null) {
      // The folder of a chain whose first session never began.
      if (now.getTime() - (await stat(folder)).mtimeMs < Math.max(DAY_MS, config.retention.sessions)) continue;
    } else {
      const ids = await listSessions(folder);
      if (ids.some((id) => needed.has(id) || waiting.has(id)) || !(await store.made(last))) continue;
      if (now.getTime() - (await stat(logPath(folder, last))).mtimeMs < config.retention.sessions) continue;
    }
    await rm(folder, { recursive: true });
    cleared += 1;
  }
  return cleared;
}

/** Packs once a day, or when loose objects pile up. A stamp in the cache folder says when it was last done. */
async function pack(data: string, line: Line, now: Date): Promise<boolean> {
  const stamp = join(data, 'cache', 'packed');
  const last = (await stat(stamp).catch(() => null))?.mtimeMs ?? 0;
  const loose = (await readdir(join(data, 'line.git', 'objects', '17')).catch(() => [])).length;
  if (now.getTime() - last < DAY_MS && loose < LOOSE_IN_ONE_FOLDER) return false;
  await line.pack();
  await mkdir(join(data, 'cache'), { recursive: true, mode: 0o700 });
  await writeFile(stamp, '');
  await utimes(stamp, now, now);
  return true;
}
