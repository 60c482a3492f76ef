import { FactoryError } from '../support/errors.ts';
import { machineOf, readFileOf } from './carry.ts';
import { CATALOGUE, MACHINES, appendEntry, catalogueText, parseCatalogue, slugOf } from './catalogue.ts';
import { blobId, writeCommit } from './commit.ts';
import {
  BASE_REF,
  LANDING_REF,
  type LineContext,
  moveRefs,
  originRef,
  refTip,
  rejection,
  withOrigin,
} from './context.ts';
import { GitFailure } from './git.ts';
import { struckOut } from './origin.ts';
import { refuseSecrets } from './secrets.ts';
import { type LandingMessage, landingMessage } from './trailers.ts';
import { readTree } from './tree.ts';

/**
 * Builds the commit that is to land: the tip, plus the one new machine folder of `work`, plus its entry appended to the
 * tip's catalogue. Whether the tip has taken the place or the name meanwhile is for check and scope to find on it.
 * @param repaired machines that check named on base ('' for the shelf as a whole): their folders and entries are taken from the work.
 */
export async function buildLanding(
  context: LineContext,
  tip: string,
  work: string,
  message: LandingMessage,
  repaired: string[],
): Promise<{ commit: string; tree: string }> {
  const { git } = context;
  const entries = parseCatalogue(await readFileOf(context, work, CATALOGUE)) ?? [];
  const entry = entries.at(-1);
  const slug = slugOf(entry);
  if (slug === null || !/^[a-z0-9-]+$/.test(slug))
    throw new Error('there is nothing to land: the work adds no entry with a slug');
  const tree = await readTree(git, tip);
  for (const path of [...tree.keys()]) if (repaired.includes(machineOf(path) ?? '\0')) tree.delete(path);
  for (const [path, file] of await readTree(git, work, MACHINES)) {
    const folder = machineOf(path);
    const wanted = folder === slug || (folder !== null && repaired.includes(folder));
    // Links and submodules never land; a page has no use for an executable bit.
    if (wanted && file.mode.startsWith('100')) tree.set(path, { ...file, mode: '100644' });
  }
  const content = Buffer.from(await landedCatalogue(context, tip, work, entries, entry, repaired));
  const id = blobId(content);
  tree.set(CATALOGUE, { mode: '100644', id, size: content.length });
  const commit = await writeCommit(git, {
    ref: LANDING_REF,
    parents: [tip],
    author: context.author,
    message: landingMessage(message),
    tree,
    contents: new Map([[id, content]]),
    force: true,
  });
  return { commit, tree: await git.text(['rev-parse', `${commit}^{tree}`]) };
}

async function landedCatalogue(
  context: LineContext,
  tip: string,
  work: string,
  entries: unknown[],
  entry: unknown,
  repaired: string[],
): Promise<string> {
  const text = (await readFileOf(context, tip, CATALOGUE))?.toString() ?? '[]\n';
  const there = parseCatalogue(Buffer.from(text));
  if (repaired.length === 0 && there !== null) return appendEntry(text, entry);
  const base = await refTip(context, BASE_REF);
  const before = base === null ? null : await readFileOf(context, base, CATALOGUE);
  // The repair is whole when main has not moved in between; otherwise only the named entries are put right in the new one.
  if (there === null || before?.toString() === text)
    return (await readFileOf(context, work, CATALOGUE))?.toString() ?? text;
  const mended = new Map(entries.map((each) => [slugOf(each), each]));
  return catalogueText([
    ...there.map((each) => (repaired.includes(slugOf(each) ?? '\0') ? (mended.get(slugOf(each)) ?? each) : each)),
    entry,
  ]);
}

export type Published = { outcome: 'landed' | 'moved'; refusal: null } | { outcome: 'refused'; refusal: FactoryError };

/** Reasons with which an origin says that main is not where it was, and not that it does not want the push. */
const MOVED =
  /stale info|fetch first|non-fast-forward|failed to update ref|cannot lock ref|incorrect old value|atomic/i;

/** Pushes a built commit to main, on condition that main still is `tip`. */
export async function publish(context: LineContext, commit: string, tip: string): Promise<Published> {
  await refuseSecrets(context.git, context.secrets, commit, [tip]);
  const ref = `refs/heads/${context.main}`;
  try {
    await withOrigin(context, 'push', ['--porcelain', `--force-with-lease=${ref}:${tip}`], [`${commit}:${ref}`]);
  } catch (error) {
    const rejected = error instanceof GitFailure ? rejection(error.stdout) : null;
    if (rejected === null || !(error instanceof GitFailure)) throw error;
    if (MOVED.test(`${rejected.summary} ${rejected.reason}`)) return { outcome: 'moved', refusal: null };
    return { outcome: 'refused', refusal: refusal(context, rejected, error.stderr) };
  }
  await moveRefs(context, [[originRef(context.main), commit]]);
  return { outcome: 'landed', refusal: null };
}

/** The error for a push that the origin did not want: its own words are the reason. */
export function refusal(
  context: LineContext,
  rejected: { summary: string; reason: string },
  stderr: string,
): FactoryError {
  const said = struckOut(stderr, context.origin)
    .split(/[\r\n]+/)
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length).trim())
    .join('\n');
  const reason = rejected.reason === '' ? rejected.summary : rejected.reason;
  const dirty = /unstaged|uncommitted|working tree|would be overwritten|untracked/i.test(`${reason} ${said}`);
  return new FactoryError('origin/refused', {
    message: `the origin ${context.origin.address} refused the push: ${reason}${said === '' ? '' : ` (${said.slice(0, 500)})`}`,
    mend: dirty
      ? `Commit, move or remove the changes in ${context.origin.address}; the next shift lands the work.`
      : 'Let the factory push to it (branch protection, hooks, rights); the next shift lands the work.',
    data: { origin: context.origin.address, reason, said },
  });
}
