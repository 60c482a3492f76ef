import type { Stats } from 'node:fs';
import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Account, effectiveCapabilities, has } from './account.ts';

/** Sharing folders between the orchestrator and the agent's user: by the agent's group, and by ownership where it may. */

/** Setgid on folders keeps what either side makes in the shared group. */
const SETGID = 0o2000;

async function give(path: string, at: Stats, account: Account, mayChown: boolean): Promise<void> {
  // A file with a second name may be somebody else's file: it is left as it is.
  if (at.isFile() && at.nlink > 1) return;
  if (mayChown) await lchown(path, account.uid, account.gid);
  else if (at.uid !== process.getuid?.())
    return; // The agent's own from an earlier run: reclaimed then.
  else if (at.gid !== account.gid) await lchown(path, at.uid, account.gid);
  if (at.isSymbolicLink()) return;
  const group = (at.mode & 0o700) >> 3;
  await chmod(path, (at.mode & 0o777) | group | (at.isDirectory() ? SETGID | 0o070 : 0o060));
}

/** Gives a folder and all below it to the agent, readable and writable for both. Links are given, never followed. */
export async function shareFolder(folder: string, account: Account): Promise<void> {
  const mayChown = has(effectiveCapabilities(), 'CHOWN');
  const walk = async (path: string): Promise<void> => {
    const at = await lstat(path);
    if (at.isDirectory()) for (const name of await readdir(path)) await walk(join(path, name));
    await give(path, at, account, mayChown);
  };
  await walk(folder);
}

/**
 * Lets the agent pass through the data folder to what is its own: folders on the way may be entered, not listed, and
 * everything beside the way is shut.
 */
export async function openWay(data: string, targets: string[], account: Account): Promise<void> {
  const inside = targets.filter((target) => !relative(data, target).startsWith('..'));
  const way = new Set<string>();
  for (const target of inside) {
    for (let at = dirname(target); !relative(data, at).startsWith('..'); at = dirname(at)) way.add(at);
  }
  for (const folder of way) {
    const at = await lstat(folder);
    if (at.gid !== account.gid) await lchown(folder, at.uid, account.gid);
    await chmod(folder, 0o710);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (way.has(path) || inside.includes(path)) continue;
      const beside = await lstat(path).catch(() => null);
      if (beside && mayShut(beside)) await chmod(path, beside.mode & 0o700);
    }
  }
}

/** Whether something beside the way is open and ours to shut: a volume's own `lost+found`, say, is root's. */
function mayShut(beside: Stats): boolean {
  const own = process.getuid?.() ?? 0;
  return !beside.isSymbolicLink() && (beside.mode & 0o077) !== 0 && (own === 0 || beside.uid === own);
}

/** Shuts the data folder again. */
export async function closeWay(data: string): Promise<void> {
  await chmod(data, 0o700);
}
