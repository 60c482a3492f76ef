import { chmod, link, lstat, mkdir, readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import type { Git } from './git.ts';
import { type Tree, type TreeEntry, readObjects, shown } from './tree.ts';

/** Folders of files made from commits: the agent's checkout, and clean exports for the gates. */

const bytes = (path: string) => Buffer.from(path, 'latin1');

/** Empties a folder, or makes it. Links in it are removed, never followed; folders closed to us are opened first. */
export async function emptyFolder(folder: string): Promise<void> {
  try {
    const stat = await lstat(folder).catch(() => null);
    if (stat && !stat.isDirectory()) await unlink(folder);
    await mkdir(folder, { recursive: true });
    await chmod(folder, (stat?.mode ?? 0o755) | 0o700).catch(() => {});
    for (const name of await readdir(folder, { encoding: 'buffer' })) {
      const path = Buffer.concat([Buffer.from(`${folder}/`), name]);
      await rm(path as never, { recursive: true, force: true }).catch(async () => {
        await openUp(path);
        await rm(path as never, { recursive: true, force: true });
      });
    }
  } catch (cause) {
    throw new FactoryError('line/checkout', {
      message: `the folder ${folder} cannot be emptied: ${(cause as Error).message}`,
      mend: `Remove what is in it by hand (sudo rm -rf ${folder}); nothing in it is needed.`,
      data: { folder },
      cause,
    });
  }
}

/** Gives our own user back every folder below a path: what was made with mode 0 can then be removed. */
async function openUp(path: Buffer): Promise<void> {
  const stat = await lstat(path);
  if (!stat.isDirectory()) return;
  await chmod(path, 0o700).catch(() => {});
  for (const name of await readdir(path, { encoding: 'buffer' }).catch(() => [])) {
    await openUp(Buffer.concat([path, Buffer.from('/'), name]));
  }
}

/** Whether every part of a path is a plain name: a commit is not trusted to hold nothing else. */
function plain(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/^\.git$/i.test(part));
}

/** A link in a clean export leads nowhere but to a place inside it: gates see that it is a link, and read nothing through it. */
function inert(path: string, target: string): string {
  const led = normalize(join('/', dirname(path), target));
  const climbs = target.split('/').filter((part) => part === '..').length > path.split('/').length - 1;
  return target.startsWith('/') || climbs || led.startsWith('/..') ? '/dev/null/outside' : target;
}

/** A folder that holds a commit's files already, written by `writeFiles`. */
export interface Written {
  tree: Tree;
  folder: string;
}

/** How many files are written at a time: Node has four threads for it. */
const AT_ONCE = 8;

/**
 * Writes a commit's files into an empty folder. Files first, links last, so that nothing is written through a link.
 * Submodules are left out. With `inertLinks` a link that leads out of the folder keeps being a link, but leads nowhere.
 * With `like`, files that stand there alike are shared with it (hard links) instead of written again: only for folders
 * that nobody writes to.
 */
export async function writeFiles(
  git: Git,
  tree: Tree,
  folder: string,
  { inertLinks, like }: { inertLinks: boolean; like?: Written },
): Promise<void> {
  const places = new Map<string, { path: string; mode: string }[]>();
  const wanted = new Map<string, { id: string; size: number }>();
  const folders = new Set<string>();
  const shared: string[] = [];
  const at = (path: string, root = folder) => Buffer.concat([Buffer.from(`${root}/`), bytes(path)]);
  const want = (path: string, { mode, id, size }: TreeEntry) => {
    places.set(id, [...(places.get(id) ?? []), { path, mode }]);
    wanted.set(id, { id, size });
  };
  for (const [path, entry] of tree) {
    if (entry.mode === '160000' || !plain(path)) continue;
    if (path.includes('/')) folders.add(path.slice(0, path.lastIndexOf('/')));
    const other = like?.tree.get(path);
    if (entry.mode.startsWith('100') && other?.id === entry.id && other.mode === entry.mode) shared.push(path);
    else want(path, entry);
  }
  for (const each of folders) await mkdir(at(each), { recursive: true });
  await eachOf(shared, async (path) => {
    // A file system without hard links, or a file that is gone: written like any other.
    await link(at(path, like?.folder), at(path)).catch(() => want(path, tree.get(path) as TreeEntry));
  });
  const links: { path: string; target: Buffer }[] = [];
  await eachOf(readObjects(git, wanted.values()), async ({ id, content }) => {
    for (const { path, mode } of places.get(id) ?? []) {
      if (mode === '120000') links.push({ path, target: Buffer.from(content) });
      else await writeFile(at(path), content, { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 });
    }
  });
  for (const { path, target } of links) {
    const led = inertLinks ? bytes(inert(path, target.toString('latin1'))) : target;
    await symlink(led, at(path)).catch((cause) => {
      throw new FactoryError('line/checkout', {
        message: `the link ${shown(path)} cannot be made`,
        mend: 'Remove it on main.',
        cause,
      });
    });
  }
}

/** Does something with each item, some at a time. What one of them failed with is thrown once all that were begun have ended. */
async function eachOf<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  for await (const item of items) {
    const one = work(item)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= AT_ONCE) await Promise.race(running);
    if (failure) break;
  }
  await Promise.all(running);
  if (failure) throw (failure as { error: unknown }).error;
}

/**
 * Gives the checkout a throwaway repository of its own, for the agent's `git diff` against `ref`. It holds that one commit
 * and no way back to the line's git dir, and is never read again.
 */
export async function throwawayRepository(git: Git, ref: string, branch: string, checkout: string): Promise<void> {
  const call = { gitDir: join(checkout, '.git'), workTree: checkout, cwd: checkout };
  await git.run(['init', '--template=', `--initial-branch=${branch}`], call);
  await git.run(
    [
      'fetch',
      '--depth=1',
      '--no-tags',
      '--no-write-fetch-head',
      '--update-head-ok',
      git.settings.gitDir,
      `${ref}:refs/heads/${branch}`,
    ],
    call,
  );
  await git.run(['reset', '--mixed'], call);
}
