import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Flushes a folder's own entries, so that a rename in it survives a power cut. Folders that cannot be opened are left. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY).catch(() => null);
  if (!handle) return;
  await handle.sync().catch(() => {});
  await handle.close();
}

/** The name of a file that `writeFileDurable` was about to put in place. */
const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;

/**
 * Removes the temporary files that a process left in a folder when it died in the middle of `writeFileDurable`. Only for
 * whoever knows that nobody writes there now. A folder that is not there has none.
 */
export async function sweepTemporary(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isFile() && TEMPORARY.test(entry.name)) await rm(join(folder, entry.name));
}

/**
 * Writes a file so that a reader sees the old content or the new, never half: temp file beside it, fsync, rename.
 * The parent folder is made when missing. Mode defaults to 0600.
 */
export async function writeFileDurable(path: string, data: string | Uint8Array, mode = 0o600): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temp = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await open(temp, 'wx', mode);
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temp, path);
  } catch (error) {
    await rm(temp, { force: true });
    throw error;
  }
  await syncFolder(folder);
}
