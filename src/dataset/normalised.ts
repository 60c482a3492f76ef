import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurable } from '../support/files.ts';
import { Spool } from '../trajectory/spool.ts';
import { asDataUrl, openaiOf } from './openai.ts';
import { parquetOf } from './parquet.ts';
import { rowFiles } from './row-files.ts';
import type { DatasetStore } from './store.ts';
import type { RowSummary } from './summary.ts';

export interface Normalised {
  /** What was written. */
  files: string[];
  /** Rows that were left out, and why. */
  left: { id: string; why: string }[];
}

/** A Parquet file is held in memory while it is made: at most this much of rows and images in one. 128 MiB. */
const PART = 128 * 1024 * 1024;

/** Writes rows as `rows-00000.parquet` and on. */
export async function exportParquet(store: DatasetStore, rows: RowSummary[], out: string): Promise<Normalised> {
  const parts: string[][] = [];
  let held = Number.POSITIVE_INFINITY;
  for (const { id } of rows) {
    const bytes = (await rowFiles(store.rowFolder(id), id)).reduce((sum, file) => sum + file.bytes, 0);
    if (held + bytes > PART) {
      parts.push([]);
      held = 0;
    }
    parts.at(-1)?.push(store.rowPath(id));
    held += bytes;
  }
  const files: string[] = [];
  for (const [index, paths] of parts.entries()) {
    const file = join(out, `rows-${String(index).padStart(5, '0')}.parquet`);
    await writeFileDurable(file, await parquetOf(paths), 0o644);
    files.push(file);
  }
  return { files, left: [] };
}

/** Writes rows as `rows.jsonl` in OpenAI's shape; a row whose messages are not in a chat's strict order is left out. */
export async function exportOpenai(
  store: DatasetStore,
  rows: RowSummary[],
  out: string,
  asFiles: boolean,
): Promise<Normalised> {
  const file = join(out, 'rows.jsonl');
  const left: Normalised['left'] = [];
  await mkdir(out, { recursive: true });
  await rm(file, { force: true });
  const spool = await Spool.create(file);
  try {
    for (const { id } of rows) {
      const folder = store.rowFolder(id);
      const shown = new Set<string>();
      const named = async (path: string): Promise<string> => {
        shown.add(path);
        return path;
      };
      const { messages, trouble } = await openaiOf(store.rowPath(id), asFiles ? named : asDataUrl(folder));
      if (trouble !== null || messages.length === 0) {
        left.push({ id, why: trouble ?? 'it has no messages' });
        continue;
      }
      spool.push(`${JSON.stringify({ id, messages })}\n`);
      await spool.drain();
      // Images keep their names: they are hashes, so those of different rows go in one folder.
      if (shown.size > 0) await mkdir(join(out, 'images'), { recursive: true });
      for (const path of shown) await copyFile(join(folder, path), join(out, path));
    }
    await spool.sync();
  } finally {
    await spool.close();
  }
  return { files: [file], left };
}
