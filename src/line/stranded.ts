import { ID_PATTERN } from '../support/ids.ts';
import { type LineContext, originRef } from './context.ts';
import { readTrailers } from './trailers.ts';

/** A shift branch that has not landed. */
export interface Stranded {
  /** `shift/<id of the first shift on it>`. */
  branch: string;
  /** The last shift that worked on it. */
  shift: string;
  commit: string;
  /** The last session on it, to be resumed. */
  session: string | null;
  continued: number;
  factory: string;
  /** When its last snapshot was made. */
  at: Date;
  /** `live`: another factory works on it now. `leftover`: it landed, or was removed at the origin; delete it. */
  state: 'continuable' | 'live' | 'leftover';
}

interface Tip {
  commit: string;
  at: Date;
  message: string;
}

/** The tips below some prefixes, by ref, each with its whole message. */
export async function tipsBelow(context: LineContext, prefixes: string[]): Promise<Map<string, Tip>> {
  const format = '%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00';
  const fields = (await context.git.run(['for-each-ref', `--format=${format}`, ...prefixes])).toString().split('\0');
  const tips = new Map<string, Tip>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [ref = '', commit = '', seconds = '0', message = ''] = fields.slice(at, at + 4);
    tips.set(ref.trim(), { commit, at: new Date(Number(seconds) * 1000), message });
  }
  return tips;
}

/** The ids in `Shift:` trailers on main, each with its newest commit. */
export async function landedShifts(context: LineContext): Promise<Map<string, string>> {
  const log = await context.git.ask(['log', '--grep=^Shift: ', '--format=%H%n%B%x00', originRef(context.main)]);
  const landed = new Map<string, string>();
  for (const record of (log?.toString() ?? '').split('\0')) {
    const [commit = '', ...message] = record.trimStart().split('\n');
    const shift = readTrailers(message.join('\n')).get('Shift');
    if (shift !== undefined && !landed.has(shift)) landed.set(shift, commit);
  }
  return landed;
}

/** Which of two tips of one branch goes on from the other; the younger one when neither does. */
async function further(context: LineContext, ours: Tip, theirs: Tip): Promise<Tip> {
  if (ours.commit === theirs.commit) return theirs;
  const isBehind = async (a: Tip, b: Tip) =>
    (await context.git.ask(['merge-base', '--is-ancestor', a.commit, b.commit])) !== null;
  if (await isBehind(theirs, ours)) return ours;
  if (await isBehind(ours, theirs)) return theirs;
  return ours.at > theirs.at ? ours : theirs;
}

const order = (branch: string) =>
  branch.replace(/(\d{6})(?:-(\d+))?$/, (_all, time: string, n = '1') => `${time}-${n.padStart(6, '0')}`);

/** All shift branches, here and at the origin as last fetched, the one begun first first. */
export async function strandedBranches(context: LineContext, now = new Date()): Promise<Stranded[]> {
  const tips = await tipsBelow(context, [
    'refs/heads/shift',
    'refs/remotes/origin/shift',
    'refs/remotes/origin/quarantine',
    'refs/line/pushed',
  ]);
  const names = new Set<string>();
  for (const ref of tips.keys()) {
    const id = /^refs\/(?:heads|remotes\/origin)\/shift\/([^/]+)$/.exec(ref)?.[1];
    if (id !== undefined && ID_PATTERN.test(id)) names.add(id);
  }
  if (names.size === 0) return [];
  const landed = await landedShifts(context);
  const found: Stranded[] = [];
  for (const id of names) {
    const ours = tips.get(`refs/heads/shift/${id}`);
    const theirs = tips.get(`refs/remotes/origin/shift/${id}`);
    const tip = ours && theirs ? await further(context, ours, theirs) : (ours ?? theirs);
    if (!tip) continue;
    const trailers = readTrailers(tip.message);
    const shift = trailers.get('Shift') ?? id;
    const factory = trailers.get('Factory') ?? '';
    const removedThere = !theirs && tips.get(`refs/line/pushed/shift/${id}`)?.commit === tip.commit;
    const setAside = !theirs && tips.has(`refs/remotes/origin/quarantine/${id}`);
    const age = now.getTime() - tip.at.getTime();
    const live = factory !== context.factory && Math.abs(age) < context.liveMs;
    found.push({
      branch: `shift/${id}`,
      shift,
      commit: tip.commit,
      session: trailers.get('Session') ?? null,
      continued: Number.parseInt(trailers.get('Continued') ?? '0', 10) || 0,
      factory,
      at: tip.at,
      state:
        landed.has(shift) || landed.has(id) || removedThere || setAside ? 'leftover' : live ? 'live' : 'continuable',
    });
  }
  return found.sort((a, b) => (order(a.branch) < order(b.branch) ? -1 : 1));
}
