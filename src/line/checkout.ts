import { chmod, lstat, mkdir, readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import type { Git } from './git.ts';
import { type Tree, readObjects, shown } from './tree.ts';

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

/**
 * Writes a commit's files into an empty folder. Files first, links last, so that nothing is written through a link.
 * Submodules are left out. With `inertLinks` a link that leads out of the folder keeps being a link, but leads nowhere.
 */
export async function writeFiles(git: Git, tree: Tree, folder: string, inertLinks: boolean): Promise<void> {
  const places = new Map<string, { path: string; mode: string }[]>();
  const wanted = new Map<string, { id: string; size: number }>();
  const folders = new Set<string>();
  for (const [path, { mode, id, size }] of tree) {
    if (mode === '160000' || !plain(path)) continue;
    places.set(id, [...(places.get(id) ?? []), { path, mode }]);
    wanted.set(id, { id, size });
    if (path.includes('/')) folders.add(path.slice(0, path.lastIndexOf('/')));
  }
  const at = (path: string) => Buffer.concat([Buffer.from(`${folder}/`), bytes(path)]);
  for (const each of folders) await mkdir(at(each), { recursive: true });
  const links: { path: string; target: Buffer }[] = [];
  for await (const { id, content } of readObjects(git, wanted.values())) {
    for (const { path, mode } of places.get(id) ?? []) {
      if (mode === '120000') links.push({ path, target: Buffer.from(content) });
      else await writeFile(at(path), content, { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 });
    }
  }
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
