import { FactoryError } from '../support/errors.ts';
import {
  type LineContext,
  NO_BRANCH,
  localRef,
  moveRefs,
  originRef,
  pushedRef,
  refTip,
  refTips,
  rejection,
  withOrigin,
} from './context.ts';
import { GitFailure } from './git.ts';
import { refusal } from './landing.ts';
import { refuseSecrets } from './secrets.ts';
import { openBranch } from './snapshot.ts';

/** Shift branches at the origin: pushed, removed when they are of no more use, set aside when they went on too long. */

/** Runs a push; what the origin rejected becomes `origin/refused`. */
export async function pushing<T>(context: LineContext, push: () => Promise<T>): Promise<T> {
  try {
    return await push();
  } catch (error) {
    const rejected = error instanceof GitFailure ? rejection(error.stdout) : null;
    if (rejected === null || !(error instanceof GitFailure)) throw error;
    throw refusal(context, rejected, error.stderr);
  }
}

/** Everything the origin is known to have. */
async function atOrigin(context: LineContext): Promise<string[]> {
  const found = await context.git.text([
    'for-each-ref',
    '--format=%(objectname)',
    'refs/remotes/origin',
    'refs/line/pushed',
  ]);
  return [...new Set(found.split('\n').filter((line) => line !== ''))];
}

/** Pushes a branch, after looking for the known secrets in all that it brings. Nothing is sent when the origin has it. */
export async function pushBranch(context: LineContext, branch: string): Promise<void> {
  const [tip = null, theirs = null] = await refTips(context, localRef(branch), originRef(branch));
  if (tip === null) {
    throw new FactoryError('line/checkout', {
      message: `there is no branch ${branch} to push`,
      mend: 'Run the next shift: it opens one.',
    });
  }
  if (theirs === tip) return;
  await refuseSecrets(context.git, context.secrets, tip, await atOrigin(context));
  await pushing(context, () => withOrigin(context, 'push', ['--porcelain'], [`${tip}:${localRef(branch)}`]));
  await moveRefs(context, [
    [originRef(branch), tip],
    [pushedRef(branch), tip],
  ]);
}

/** Forgets a branch here and at the origin, unless somebody moved it there since it was fetched. */
export async function deleteBranch(context: LineContext, branch: string): Promise<void> {
  const theirs = await refTip(context, originRef(branch));
  if (theirs !== null) {
    const lease = `--force-with-lease=${localRef(branch)}:${theirs}`;
    await pushing(context, () => withOrigin(context, 'push', ['--porcelain', lease], [`:${localRef(branch)}`]));
  }
  await forget(context, branch);
}

async function forget(context: LineContext, branch: string): Promise<void> {
  if ((await openBranch(context)) === branch) await context.git.run(['symbolic-ref', 'HEAD', NO_BRANCH]);
  await moveRefs(context, [
    [localRef(branch), null],
    [originRef(branch), null],
    [pushedRef(branch), null],
  ]);
}

/** Whether a commit brings the origin no known secret. */
export async function isClean(context: LineContext, tip: string): Promise<boolean> {
  try {
    await refuseSecrets(context.git, context.secrets, tip, await atOrigin(context));
    return true;
  } catch (error) {
    if (error instanceof FactoryError && error.code === 'line/secret') return false;
    throw error;
  }
}

/**
 * Moves `shift/<id>` to `quarantine/<id>`: at the origin in one push, and here. A branch that holds a known secret is kept
 * here only.
 */
export async function quarantine(context: LineContext, branch: string): Promise<void> {
  const aside = branch.replace(/^shift\//, 'quarantine/');
  const [ours = null, theirs = null] = await refTips(context, localRef(branch), originRef(branch));
  const tip = ours ?? theirs;
  if (tip === null) return;
  const clean = await isClean(context, tip);
  const lease = theirs === null ? [] : [`--force-with-lease=${localRef(branch)}:${theirs}`];
  const refs = [...(clean ? [`+${tip}:${localRef(aside)}`] : []), ...(theirs === null ? [] : [`:${localRef(branch)}`])];
  if (refs.length > 0) await pushing(context, () => withOrigin(context, 'push', ['--porcelain', ...lease], refs));
  await moveRefs(context, [
    [localRef(aside), tip],
    ...(clean ? ([[originRef(aside), tip]] as [string, string][]) : []),
  ]);
  await forget(context, branch);
}
