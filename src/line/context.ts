import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Author } from './commit.ts';
import { type Git, GitFailure, brokenLine } from './git.ts';
import { endOrphans } from './processes.ts';
import { type Origin, originError, packOption } from './origin.ts';

/** What every part of the line works with, and the names of its refs in the git dir. */
export interface LineContext {
  git: Git;
  origin: Origin;
  /** Main's name. */
  main: string;
  factory: string;
  author: Author;
  checkout: string;
  secrets: readonly string[];
  liveMs: number;
}

/** No branch is open: HEAD names a branch that never exists. */
export const NO_BRANCH = 'refs/heads/none';
/** The base of the open branch: also keeps git from dropping it. */
export const BASE_REF = 'refs/line/base';
export const LANDING_REF = 'refs/line/landing';

export const localRef = (branch: string) => `refs/heads/${branch}`;
/** A branch as the origin had it when it was last fetched or pushed. */
export const originRef = (branch: string) => `refs/remotes/origin/${branch}`;
/** What was pushed of a branch, kept when the origin's own ref is gone: tells "never pushed" from "deleted there". */
export const pushedRef = (branch: string) => `refs/line/pushed/${branch}`;

/** Makes the bare git dir when it is missing or has lost its HEAD; ends the git calls and removes the locks that a dead factory left. */
export async function openGitDir(context: LineContext): Promise<void> {
  const { gitDir } = context.git.settings;
  await mkdir(gitDir, { recursive: true, mode: 0o700 });
  if (await endOrphans(gitDir)) await removeLeftovers(gitDir);
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8').catch(() => '');
  if (/^(ref: refs\/heads\/\S+|[0-9a-f]{40})\s*$/.test(head)) return;
  await rm(join(gitDir, 'HEAD'), { force: true });
  await context.git.run(['init', '--bare', '--template=', '--initial-branch=none']);
}

/** Removes locks and temporary files in the git dir; only while nobody works on it. */
async function removeLeftovers(gitDir: string): Promise<void> {
  const sweep = async (folder: string, deep: boolean) => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (deep) await sweep(path, true);
      } else if (/\.lock$|^tmp_|^fast_import_crash_/.test(entry.name)) await rm(path, { force: true });
    }
  };
  await sweep(gitDir, false);
  await sweep(join(gitDir, 'refs'), true);
  await sweep(join(gitDir, 'objects'), true);
}

/** A fetch or push that speaks with the origin; what it failed with becomes a typed error. */
export async function withOrigin(
  context: LineContext,
  command: 'fetch' | 'push',
  args: string[],
  refs: string[],
): Promise<string> {
  const pack = packOption(context.origin, command === 'fetch' ? 'upload-pack' : 'receive-pack');
  try {
    return (
      await context.git.run([command, '--progress', ...pack, ...args, context.origin.address, ...refs])
    ).toString();
  } catch (error) {
    if (command === 'push' && error instanceof GitFailure && error.ended === null && rejection(error.stdout))
      throw error;
    throw originError(error, context.origin, context.main, context.git.settings.gitDir);
  }
}

/** The first ref that a `push --porcelain` tells as rejected, with the reason in brackets; null when there is none. */
export function rejection(porcelain: string): { summary: string; reason: string } | null {
  const match = /^!\t[^\t]*\t(\[[^\]]*\])(?: \((.*)\))?/m.exec(porcelain);
  return match ? { summary: match[1] ?? '', reason: match[2] ?? '' } : null;
}

/** Moves several refs in one transaction: a commit, or null to delete. */
export async function moveRefs(context: LineContext, refs: [ref: string, commit: string | null][]): Promise<void> {
  const lines = refs.map(([ref, commit]) => (commit === null ? `delete ${ref}\n` : `update ${ref} ${commit}\n`));
  await context.git.run(['update-ref', '--stdin'], { input: Buffer.from(`start\n${lines.join('')}commit\n`) });
}

/** What refs point at, each a commit or null, in the order asked. */
export async function refTips(context: LineContext, ...refs: string[]): Promise<(string | null)[]> {
  const found = await context.git.text(['for-each-ref', '--format=%(refname) %(objectname)', ...refs]);
  const tips = new Map(found.split('\n').map((line) => line.split(' ') as [string, string]));
  return refs.map((ref) => tips.get(ref) ?? null);
}

/** What a ref points at, or null. */
export async function refTip(context: LineContext, ref: string): Promise<string | null> {
  return (await refTips(context, ref))[0] ?? null;
}

/** Runs a piece of the line's work, telling git's failures as errors a person can mend. */
export async function told<T>(context: LineContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw brokenLine(error, context.git.settings.gitDir);
  }
}
