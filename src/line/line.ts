import { resolve } from 'node:path';
import type { FactoryError } from '../support/errors.ts';
import { deleteBranch, pushBranch, quarantine } from './branches.ts';
import { carried, readFileOf } from './carry.ts';
import { type Change, type OfShift, changeOfShift, differenceOf } from './change.ts';
import { emptyFolder, throwawayRepository, writeFiles } from './checkout.ts';
import { type Author, writeCommit } from './commit.ts';
import {
  BASE_REF,
  type LineContext,
  NO_BRANCH,
  localRef,
  moveRefs,
  openGitDir,
  originRef,
  refTip,
  refTips,
  told,
  withOrigin,
} from './context.ts';
import { refuseDirtyOrigin } from './dirty.ts';
import { Git } from './git.ts';
import { buildLanding, publish } from './landing.ts';
import { noBranch, readOrigin } from './origin.ts';
import { type SetAside, release, setAside } from './set-aside.ts';
import { type Snapshot, openBranch, snapshot } from './snapshot.ts';
import { type Stranded, landedShifts, strandedBranches } from './stranded.ts';
import { type LandingMessage, type SnapshotNote, leftOutOf, snapshotMessage } from './trailers.ts';
import { type Tree, readTree } from './tree.ts';

export type { Stranded } from './stranded.ts';
export type { LandingMessage, SnapshotNote } from './trailers.ts';
export type { Tree, TreeEntry } from './tree.ts';

export interface LineOptions {
  /** The line's own bare git dir. */
  gitDir: string;
  /** The folder the agent works in. */
  checkout: string;
  /** URL or path. */
  origin: string;
  /** Main's name at the origin. */
  branch: string;
  /** This factory's id. */
  factory: string;
  author: Author;
  /** Credential of an http(s) origin: a token, `user:password`, or a whole `Bearer …`. Reaches git in its environment only. */
  token?: string;
  /** Looked for, in every form, before anything is pushed. */
  secrets?: string[];
  /** A git call that prints nothing for so long is ended. Default 2 minutes. */
  silenceMs?: number;
  /** Another factory's branch with a snapshot younger than this is its live work. Default 85 minutes, the default time limit. */
  liveMs?: number;
  /** Ends a running git at once, and every later call. */
  signal?: AbortSignal;
}

/** The git side of a shift: fetch, branch, snapshot, strand, land. One call at a time works on the git dir. */
export class Line {
  readonly #context: LineContext;
  #last: Promise<unknown> = Promise.resolve();
  #refusal: FactoryError | null = null;

  private constructor(context: LineContext) {
    this.#context = context;
  }

  /** Makes the git dir when missing and removes stale locks; the caller holds the factory's lock. Safe to repeat. */
  static async open(options: LineOptions): Promise<Line> {
    const line = Line.beside(options);
    await told(line.#context, () => openGitDir(line.#context));
    return line;
  }

  /** For whoever looks on beside a shift that may be at work: takes the git dir as it is, its locks included. */
  static beside(options: LineOptions): Line {
    const origin = readOrigin(options.origin, options.token);
    const git = new Git({
      gitDir: resolve(options.gitDir),
      silenceMs: options.silenceMs ?? 120_000,
      secretConfig: origin.secretConfig,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return new Line({
      git,
      origin,
      main: options.branch,
      factory: options.factory,
      author: options.author,
      checkout: resolve(options.checkout),
      secrets: [...(options.secrets ?? []), ...(options.token === undefined ? [] : [options.token])],
      liveMs: options.liveMs ?? 85 * 60_000,
    });
  }

  #serially<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => told(this.#context, work));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** The origin as a person may see it: a path, or an address without a credential. */
  get origin(): string {
    return this.#context.origin.address;
  }

  /** Why the last `publish` was refused. */
  get refusal(): FactoryError | null {
    return this.#refusal;
  }

  /** Fetches main, and all shift branches with it. @returns main's tip now. @throws origin/unreachable, origin/no-branch, origin/auth. */
  fetch(): Promise<string> {
    return this.#serially(async () => {
      const refs = [this.#context.main, 'shift/*', 'quarantine/*'].map(
        (name) => `+${localRef(name)}:${originRef(name)}`,
      );
      await withOrigin(this.#context, 'fetch', ['--prune', '--no-tags', '--no-write-fetch-head'], refs);
      const tip = await refTip(this.#context, originRef(this.#context.main));
      if (tip === null) throw noBranch(this.#context.origin, this.#context.main);
      return tip;
    });
  }

  /** @throws origin/dirty when the origin is a folder whose checked-out main has changes that are not committed. Untracked files do not count. */
  refuseDirtyOrigin(): Promise<void> {
    return this.#serially(() => refuseDirtyOrigin(this.#context));
  }

  /** Opens branch `shift/<id>` at base, with a fresh checkout of it. */
  newBranch(shift: string, base: string): Promise<void> {
    return this.#serially(async () => {
      await this.#fill(await readTree(this.#context.git, base), `shift/${shift}`, base);
      await this.#enter(`shift/${shift}`, base);
    });
  }

  /**
   * Goes on with a stranded branch, under its own name: the checkout is base plus the branch's own machine folders and
   * catalogue entry. The first commit of the continuation is made at once, with this shift's id, so that whatever lands
   * is known as this branch's; it counts no continuation yet (`snapshot` does, once an agent ran).
   */
  continueBranch(stranded: Stranded, shift: string, base: string): Promise<void> {
    return this.#serially(async () => {
      const context = this.#context;
      const { tree, contents, fork } = await carried(context, stranded.commit, base);
      await moveRefs(context, [[localRef(stranded.branch), stranded.commit]]);
      const { session, continued } = stranded;
      const tip = await writeCommit(context.git, {
        ref: localRef(stranded.branch),
        parents: fork === base ? [stranded.commit] : [stranded.commit, base],
        author: context.author,
        message: snapshotMessage({ shift, session, continued }, context.factory, []),
        tree,
        contents,
      });
      await this.#fill(tree, stranded.branch, base);
      await this.#enter(stranded.branch, tip);
    });
  }

  /** Until `#enter` no branch is open: a crash in between never snapshots a half-written checkout. */
  async #fill(tree: Tree, branch: string, base: string): Promise<void> {
    const { git, checkout } = this.#context;
    await git.run(['symbolic-ref', 'HEAD', NO_BRANCH]);
    await emptyFolder(checkout);
    await moveRefs(this.#context, [[BASE_REF, base]]);
    await throwawayRepository(git, BASE_REF, branch, checkout);
    await writeFiles(git, tree, checkout, { inertLinks: false });
  }

  async #enter(branch: string, tip: string): Promise<void> {
    await moveRefs(this.#context, [[localRef(branch), tip]]);
    await this.#context.git.run(['symbolic-ref', 'HEAD', localRef(branch)]);
  }

  /** The branch the checkout is on, with its tip and base; null when none is open. Survives a restart. */
  current(): Promise<{ branch: string; tip: string; base: string | null } | null> {
    return this.#serially(async () => {
      const branch = await openBranch(this.#context);
      if (branch === null) return null;
      const [tip = null, base = null] = await refTips(this.#context, localRef(branch), BASE_REF);
      return tip === null ? null : { branch, tip, base };
    });
  }

  /** Commits the checkout as it is to the open branch; see snapshot.ts. */
  snapshot(note: SnapshotNote): Promise<Snapshot> {
    return this.#serially(() => snapshot(this.#context, note));
  }

  /** Pushes a shift branch (default: the open one). @throws line/secret, origin/refused, origin/unreachable, origin/auth. */
  push(branch?: string): Promise<void> {
    return this.#serially(async () => pushBranch(this.#context, branch ?? (await openBranch(this.#context)) ?? ''));
  }

  /**
   * Writes a commit's files into a folder, emptied first; links lead nowhere outside it. What is alike in `like`, the export
   * of another commit, is shared with it: for folders that nobody writes to.
   */
  exportTree(commit: string, folder: string, like?: { commit: string; folder: string }): Promise<void> {
    return this.#serially(async () => {
      const { git } = this.#context;
      await emptyFolder(folder);
      const there = like && { like: { tree: await readTree(git, like.commit), folder: resolve(like.folder) } };
      await writeFiles(git, await readTree(git, commit), resolve(folder), { inertLinks: true, ...there });
    });
  }

  /** All shift branches that have not landed, the one begun first first. Fetch before. */
  stranded(): Promise<Stranded[]> {
    return this.#serially(() => strandedBranches(this.#context));
  }

  /** The commit on main with this `Shift:`, as last fetched, or null. */
  landedAs(shift: string): Promise<string | null> {
    return this.#serially(async () => (await landedShifts(this.#context)).get(shift) ?? null);
  }

  /** Builds the commit to land; see landing.ts. */
  buildLanding(
    tip: string,
    work: string,
    message: LandingMessage,
    options: { repaired?: string[] } = {},
  ): Promise<{ commit: string; tree: string }> {
    return this.#serially(() => buildLanding(this.#context, tip, work, message, options.repaired ?? []));
  }

  /** Pushes a built commit to main if main still is `tip`. After 'refused', `refusal` says why. @throws line/secret, origin/unreachable, origin/auth. */
  publish(commit: string, tip: string): Promise<'landed' | 'moved' | 'refused'> {
    return this.#serially(async () => {
      const published = await publish(this.#context, commit, tip);
      this.#refusal = published.refusal;
      return published.outcome;
    });
  }

  /** Forgets a branch here and at the origin. */
  deleteBranch(branch: string): Promise<void> {
    return this.#serially(() => deleteBranch(this.#context, branch));
  }

  /** Moves `shift/<id>` to `quarantine/<id>`, here and at the origin. */
  quarantine(branch: string): Promise<void> {
    return this.#serially(() => quarantine(this.#context, branch));
  }

  /** All branches in quarantine. */
  setAside = (): Promise<SetAside[]> => this.#serially(() => setAside(this.#context));
  /** Gives a branch in quarantine back to the line; see set-aside.ts. */
  release = (branch: string): Promise<void> => this.#serially(() => release(this.#context, branch));

  /** A file's bytes in a commit, or null. */
  read(commit: string, path: string): Promise<Buffer | null> {
    return this.#serially(() => readFileOf(this.#context, commit, path));
  }

  /** All files of a commit, or those below a folder, by path. */
  filesOf(commit: string, folder?: string): Promise<Tree> {
    return this.#serially(() => readTree(this.#context.git, commit, folder));
  }

  /** What a shift landed, or what of it waits on its branch; see change.ts. */
  changeOf(shift: OfShift, most: number): Promise<Change | null> {
    return this.#serially(() => changeOfShift(this.#context, shift, most));
  }

  /** An object's bytes by its id, or null. */
  object(id: string): Promise<Buffer | null> {
    return this.#serially(() => this.#context.git.ask(['cat-file', 'blob', id]));
  }

  /** How one object's text became another's; null where that cannot be told in lines. */
  difference(before: string, now: string): Promise<string | null> {
    return this.#serially(() => differenceOf(this.#context, before, now));
  }

  /** What the snapshot at a commit left out of the checkout, `<path> (<why>)`. */
  leftOut(commit: string): Promise<string[]> {
    return this.#serially(async () => leftOutOf(await this.#context.git.text(['log', '-1', '--format=%B', commit])));
  }

  /** Whether two commits differ below a folder (default `site`). */
  differs(base: string, work: string, folder = 'site'): Promise<boolean> {
    return this.#serially(async () => {
      const idIn = (commit: string) =>
        this.#context.git.ask(['rev-parse', '--verify', '--quiet', `${commit}:${folder}`]).then(String);
      return (await idIn(base)) !== (await idIn(work));
    });
  }

  /** Packs the git dir; for a quiet moment between shifts. */
  async pack(): Promise<void> {
    await this.#serially(() => this.#context.git.run(['gc', '--prune=1.day.ago']));
  }
}
