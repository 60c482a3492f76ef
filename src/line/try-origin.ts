import { constants, existsSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import { Git, GitFailure } from './git.ts';
import { type Origin, noBranch, originError, packOption, readOrigin } from './origin.ts';

/** Looking at an origin without a line: nothing is fetched, nothing is pushed, and a factory at work is not disturbed. */

export interface TryOptions {
  origin: string;
  branch: string;
  token?: string;
  silenceMs: number;
}

/** The empty tree, which every git knows. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/**
 * Reads main's tip at the origin, and lets git go through a push of a new shift branch up to the point of sending it.
 * @returns the origin as a person may see it, and main's tip.
 * @throws FactoryError `origin/unreachable`, `origin/no-branch`, `origin/auth`, `origin/refused`.
 */
export async function tryOrigin(options: TryOptions): Promise<{ address: string; tip: string }> {
  const origin = readOrigin(options.origin, options.token);
  const folder = await mkdtemp(join(tmpdir(), 'machinery-origin-'));
  const gitDir = join(folder, 'trial.git');
  const git = new Git({ gitDir, silenceMs: options.silenceMs, secretConfig: origin.secretConfig });
  try {
    await git.run(['init', '--quiet', '--bare', '--template=', gitDir], { cwd: folder, gitDir: null });
    const tip = await tipOf(git, origin, options.branch);
    await tryPush(git, origin);
    return { address: origin.address, tip };
  } catch (error) {
    throw originError(error, origin, options.branch, gitDir);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tipOf(git: Git, origin: Origin, branch: string): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const listed = await git.text(['ls-remote', ...packOption(origin, 'upload-pack'), origin.address, ref]);
  const tip = listed
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([, name]) => name === ref)?.[0];
  if (tip) return tip;
  throw noBranch(origin, branch);
}

async function tryPush(git: Git, origin: Origin): Promise<void> {
  // A dry run writes nothing, so a folder that cannot be written would go unnoticed.
  if (origin.path !== null) await requireWritable(origin.path);
  const person = 'Machinery <machinery@localhost> 0 +0000';
  const commit = `tree ${EMPTY_TREE}\nauthor ${person}\ncommitter ${person}\n\nA push that is only tried\n`;
  await git.run(['hash-object', '-t', 'tree', '-w', '--stdin']);
  const id = await git.text(['hash-object', '-t', 'commit', '-w', '--stdin'], { input: Buffer.from(commit) });
  const pack = packOption(origin, 'receive-pack');
  await git.run(['push', '--dry-run', '--porcelain', ...pack, origin.address, `${id}:refs/heads/shift/trial`]);
}

async function requireWritable(path: string): Promise<void> {
  const folder = existsSync(join(path, '.git')) ? join(path, '.git') : path;
  for (const part of [folder, join(folder, 'objects'), join(folder, 'refs', 'heads')]) {
    await access(part, constants.W_OK).catch(() => {
      throw new FactoryError('origin/refused', {
        message: `the origin ${path} can be read but not pushed to: ${part} is not writable`,
        mend: `Give the factory's user write access to ${folder}.`,
        data: { origin: path },
      });
    });
  }
}

/**
 * A file of main as it was last fetched into the line, or, before the first fetch, as a local origin has it.
 * @returns null when neither is to be had.
 */
export async function readMain(
  { origin, branch, gitDir }: { origin: string; branch: string; gitDir: string },
  path: string,
): Promise<Buffer | null> {
  const local = readOrigin(origin).path;
  const places = [
    { cwd: gitDir, ref: `refs/remotes/origin/${branch}`, gitDir },
    ...(local === null ? [] : [{ cwd: local, ref: `refs/heads/${branch}`, gitDir: null }]),
  ];
  for (const { cwd, ref, gitDir: dir } of places) {
    if (!existsSync(cwd)) continue;
    const git = new Git({ gitDir: cwd, silenceMs: 30_000 });
    const found = await git.ask(['cat-file', 'blob', `${ref}:${path}`], { cwd, gitDir: dir }).catch((error) => {
      if (error instanceof GitFailure) return null;
      throw error;
    });
    if (found !== null) return found;
  }
  return null;
}
