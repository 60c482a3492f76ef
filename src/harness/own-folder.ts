import { lstat, mkdir, rm } from 'node:fs/promises';

/** Makes a folder where an agent may have been: a link or a file that it left in the place is removed, not followed. */
export async function ownFolder(path: string): Promise<void> {
  const at = await lstat(path).catch(() => null);
  if (at && !at.isDirectory()) await rm(path, { force: true });
  await mkdir(path, { recursive: true, mode: 0o700 });
}
