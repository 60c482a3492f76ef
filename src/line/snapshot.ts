import { blobId, writeCommit } from './commit.ts';
import { FactoryError } from '../support/errors.ts';
import { type LineContext, NO_BRANCH } from './context.ts';
import { type SnapshotNote, readTrailers, snapshotMessage } from './trailers.ts';
import { type Tree, readTree } from './tree.ts';
import { walk } from './walk.ts';

/** More than this in one checkout is no machine: 250 machines are 28 MB. */
const LIMITS = { bytes: 100_000_000, files: 50_000 };

export interface Snapshot {
  commit: string;
  /** Whether a commit was made. */
  changed: boolean;
  /** What is in the checkout and not in the commit, `<path> (<why>)`. */
  leftOut: string[];
}

/** The branch the checkout is on, as `shift/<id>`; null when none is open. */
export async function openBranch(context: LineContext): Promise<string | null> {
  const head = await context.git.text(['symbolic-ref', 'HEAD']);
  return head === NO_BRANCH || !head.startsWith('refs/heads/') ? null : head.slice('refs/heads/'.length);
}

function same(a: Tree, b: Tree): boolean {
  if (a.size !== b.size) return false;
  for (const [path, entry] of a) {
    const other = b.get(path);
    if (other?.id !== entry.id || other.mode !== entry.mode) return false;
  }
  return true;
}

/**
 * Commits the checkout as it is to the open branch. No commit when nothing changed; on a branch that has snapshots
 * already, a new shift, session, count or list of what is left out is a change too, since the next shift reads them.
 */
export async function snapshot(context: LineContext, note: SnapshotNote): Promise<Snapshot> {
  const { git } = context;
  const branch = await openBranch(context);
  const told = branch === null ? null : await git.ask(['log', '-1', '--format=%H%x00%B', `refs/heads/${branch}`]);
  if (told === null) {
    throw new FactoryError('line/checkout', {
      message: 'no branch is open to snapshot to',
      mend: 'Run the next shift: it opens one.',
    });
  }
  const [tip = '', tipMessage = ''] = told.toString().split('\0');
  const before = await readTree(git, tip);
  const folders = new Set([...before.keys()].map((path) => path.split('/')[0]));
  const { files, leftOut } = await walk(context.checkout, LIMITS, (path) => before.has(path) || folders.has(path));
  const has = new Set([...before.values()].map((entry) => entry.id));
  const tree: Tree = new Map();
  const contents = new Map<string, Buffer>();
  for (const [path, { mode, content }] of files) {
    const id = blobId(content);
    tree.set(path, { mode, id, size: content.length });
    if (!has.has(id)) contents.set(id, content);
  }
  // A submodule that main has is no file: it stays as it was unless something else took its place.
  for (const [path, entry] of before) {
    if (entry.mode === '160000' && ![...tree.keys()].some((each) => each === path || each.startsWith(`${path}/`)))
      tree.set(path, entry);
  }
  const message = snapshotMessage(note, context.factory, leftOut);
  const isSnapshot = readTrailers(tipMessage).has('Factory');
  if (same(before, tree) && (!isSnapshot || tipMessage.trim() === message.trim()))
    return { commit: tip, changed: false, leftOut };
  const commit = await writeCommit(git, {
    ref: `refs/heads/${branch}`,
    parents: [tip],
    author: context.author,
    message,
    tree,
    contents,
  });
  return { commit, changed: true, leftOut };
}
