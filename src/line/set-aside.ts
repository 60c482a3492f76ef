import { readTree } from './tree.ts';
import { isClean, pushing } from './branches.ts';
import { writeCommit } from './commit.ts';
import { type LineContext, localRef, moveRefs, originRef, refTips, withOrigin } from './context.ts';
import { ID_PATTERN } from '../support/ids.ts';
import { tipsBelow } from './stranded.ts';
import { readTrailers, snapshotMessage } from './trailers.ts';

/** A branch in quarantine: it was continued too often without landing. */
export interface SetAside {
  /** `quarantine/<id>`. */
  branch: string;
  commit: string;
  /** The last shift that worked on it. */
  shift: string;
  /** When its last snapshot was made. */
  at: Date;
}

/** All branches in quarantine, here and at the origin as last fetched, the one begun first first. */
export async function setAside(context: LineContext): Promise<SetAside[]> {
  const tips = await tipsBelow(context, ['refs/heads/quarantine', 'refs/remotes/origin/quarantine']);
  const found = new Map<string, SetAside>();
  for (const [ref, { commit, at, message }] of tips) {
    const id = ref.slice(ref.lastIndexOf('/') + 1);
    const branch = `quarantine/${id}`;
    // Ours, when both have it: for-each-ref tells refs/heads first.
    if (!ID_PATTERN.test(id) || found.has(branch)) continue;
    found.set(branch, { branch, commit, shift: readTrailers(message).get('Shift') ?? id, at });
  }
  return [...found.values()].sort((a, b) => (a.branch < b.branch ? -1 : 1));
}

/**
 * Gives `quarantine/<id>` back to the line as `shift/<id>`: the next shift continues it, and its continuations are counted
 * from nothing again. A branch that holds a known secret stays here, as it did in quarantine.
 */
export async function release(context: LineContext, branch: string): Promise<void> {
  const back = branch.replace(/^quarantine\//, 'shift/');
  const [ours = null, theirs = null] = await refTips(context, localRef(branch), originRef(branch));
  const tip = ours ?? theirs;
  if (tip === null || back === branch) return;
  const trailers = readTrailers(await context.git.text(['log', '-1', '--format=%B', tip]));
  const note = {
    shift: trailers.get('Shift') ?? back.slice(6),
    session: trailers.get('Session') ?? null,
    continued: 0,
  };
  const commit = await writeCommit(context.git, {
    ref: localRef(back),
    parents: [tip],
    author: context.author,
    message: snapshotMessage(note, context.factory, []),
    tree: await readTree(context.git, tip),
    contents: new Map(),
    force: true,
  });
  const clean = await isClean(context, commit);
  const lease = theirs === null ? [] : [`--force-with-lease=${localRef(branch)}:${theirs}`];
  const refs = [
    ...(clean ? [`+${commit}:${localRef(back)}`] : []),
    ...(theirs === null ? [] : [`:${localRef(branch)}`]),
  ];
  if (refs.length > 0) await pushing(context, () => withOrigin(context, 'push', ['--porcelain', ...lease], refs));
  await moveRefs(context, [
    ...(clean ? ([[originRef(back), commit]] as [string, string][]) : []),
    [localRef(branch), null],
    [originRef(branch), null],
  ]);
}
