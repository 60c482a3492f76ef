import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of a row, and where the hub has it. */
export interface RowFile {
  local: string;
  /** `trajectories/<id>/…`. */
  path: string;
  bytes: number;
}

/** The files of a row: its line and its images, sorted by path. */
export async function rowFiles(folder: string, id: string): Promise<RowFile[]> {
  const images = await readdir(join(folder, 'images'), { withFileTypes: true }).catch(() => []);
  const names = images.filter((entry) => entry.isFile()).map((entry) => `images/${entry.name}`);
  return Promise.all(
    [`${id}.jsonl`, ...names.sort()].map(async (name) => {
      const local = join(folder, name);
      return { local, path: `trajectories/${id}/${name}`, bytes: (await stat(local)).size };
    }),
  );
}

/** What the hub says of a file: large ones are named by the sha256 of their bytes, the rest by git's own hash of a blob. */
export interface RemoteFile {
  size: number;
  sha256?: string;
  blob?: string;
}

/** Whether a file here and one on the hub hold the same bytes. */
export async function sameAs(file: RowFile, remote: RemoteFile): Promise<boolean> {
  if (remote.size !== file.bytes) return false;
  const wanted = remote.sha256 ?? remote.blob;
  const hash = createHash(remote.sha256 === undefined ? 'sha1' : 'sha256');
  if (remote.sha256 === undefined) hash.update(`blob ${file.bytes}\0`);
  for await (const chunk of createReadStream(file.local)) hash.update(chunk as Buffer);
  return hash.digest('hex') === wanted;
}
