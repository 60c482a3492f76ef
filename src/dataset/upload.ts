import type { DatasetStore } from './store.ts';
import type { Hub, Upload } from './hub.ts';
import { type RowFile, rowFiles, sameAs } from './row-files.ts';

/** A commit holds at most this much: the hub takes small commits best, and allows about 128 an hour. */
const MOST = { rows: 25, files: 200, bytes: 64 * 1024 * 1024 };

export interface Batch {
  ids: string[];
  files: Map<string, RowFile[]>;
}

/** Cuts waiting rows, oldest first, into what goes in one commit each. */
export async function batches(store: DatasetStore, ids: string[]): Promise<Batch[]> {
  const all: Batch[] = [];
  let [files, bytes] = [0, 0];
  for (const id of ids) {
    const row = await rowFiles(store.rowFolder(id), id);
    const size = row.reduce((sum, file) => sum + file.bytes, 0);
    let batch = all.at(-1);
    const full =
      batch && (batch.ids.length >= MOST.rows || files + row.length > MOST.files || bytes + size > MOST.bytes);
    if (!batch || full) {
      batch = { ids: [], files: new Map() };
      all.push(batch);
      [files, bytes] = [0, 0];
    }
    batch.ids.push(id);
    batch.files.set(id, row);
    files += row.length;
    bytes += size;
  }
  return all;
}

/** How the hub stands to some rows: which files it lacks, which rows it has whole, which it has otherwise. */
export interface Standing {
  exists: boolean;
  hasCard: boolean;
  same: string[];
  different: string[];
  missing: { id: string; files: RowFile[] }[];
}

export const CARD = 'README.md';

export async function standing(hub: Hub, { ids, files }: Batch): Promise<Standing> {
  const paths = ids.flatMap((id) => (files.get(id) ?? []).map(({ path }) => path));
  const have = await hub.have([CARD, ...paths]);
  const result: Standing = {
    exists: have !== null,
    hasCard: have?.has(CARD) ?? false,
    same: [],
    different: [],
    missing: [],
  };
  for (const id of ids) {
    const row = files.get(id) ?? [];
    const there = row.filter(({ path }) => have?.has(path));
    const alike = await Promise.all(there.map((file) => sameAs(file, have?.get(file.path) ?? { size: -1 })));
    if (alike.includes(false)) result.different.push(id);
    else if (there.length === row.length) result.same.push(id);
    else result.missing.push({ id, files: row.filter((file) => !there.includes(file)) });
  }
  return result;
}

/** Sends rows in one commit, with the card when the dataset has none. */
export async function send(hub: Hub, missing: Standing['missing'], extra: Upload[]): Promise<string> {
  const ids = missing.map(({ id }) => id);
  const title = ids.length === 1 ? `Add row ${ids[0]}` : `Add ${ids.length} rows, ${ids[0]} to ${ids.at(-1)}`;
  return hub.commit(title, [...missing.flatMap(({ files }) => files), ...extra]);
}
