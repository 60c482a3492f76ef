import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { chainOf } from '../session/chain.ts';
import { ID_PATTERN } from '../support/ids.ts';

/** The chain's session folder that holds a session's log; null when the log is lost. */
export async function sessionFolderOf(data: string, session: string): Promise<string | null> {
  if (!ID_PATTERN.test(session)) return null;
  const root = join(data, 'sessions');
  const folders = await readdir(root).catch(() => [] as string[]);
  return folders.map((name) => join(root, name)).find((folder) => existsSync(join(folder, `${session}.jsonl`))) ?? null;
}

/**
 * Gives a fresh chain's folder (`open-<shift>` while its first session runs) the name of the chain's first session.
 * @returns the folder's path now; the same when it has its name already.
 */
export async function nameChainFolder(folder: string, session: string): Promise<string> {
  if (!basename(folder).startsWith('open-')) return folder;
  const [first] = await chainOf(folder, session);
  const named = join(dirname(folder), first as string);
  await rename(folder, named);
  return named;
}
