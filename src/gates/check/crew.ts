import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Finding } from '../finding.ts';
import { openCache } from './cache.ts';
import { type Assignment, type Bench, judgePart, PARTS, type Part, recall } from './machine.ts';

/**
 * Judges machines on as many threads as there are cores. Each thread takes the next assignment of the part it prefers, and
 * when that part is done it helps with the other: none waits for another, and none warms up parsers without need.
 */

/** Starting a thread and its parsers costs about as much as judging this many parts. */
const WORTH_A_THREAD = 36;
/** More threads than this gain little and each holds its own memory. */
const MOST_THREADS = 4;

/** What the threads begin with, in turn: pages are two fifths of the work, scripts as much. */
const PREFERENCES: readonly Part[] = ['pages', 'script'];
/** What a thread goes on with: stylesheets first, whose tokenizer costs least to load and to warm up. */
const THEN: readonly Part[] = ['style', 'pages', 'script'];

/** What a thread is given to start with. */
export interface Work {
  assignments: Record<Part, Assignment[]>;
  site: string;
  cache: string | null;
  version: string;
  /** One counter a part: how many of its assignments are taken. */
  taken: SharedArrayBuffer;
  prefers: Part;
}

/** A thread's answer: for each assignment it took, its part, its place in that part's list, and what was found. */
export type Verdicts = [part: Part, at: number, findings: Finding[]][];

/** @returns the findings of each assignment, in the order they were given. */
export async function judgeAll(
  assignments: readonly Assignment[],
  site: string,
  cache: string | null,
  version: string,
): Promise<Finding[][]> {
  const bench: Bench = { site, cache: cache === null ? null : openCache(cache), version };
  const verdicts: Finding[][] = new Array(assignments.length);
  // What is remembered costs next to nothing; what is left is worth sharing out, the looking too once much is left.
  const left: Record<Part, number[]> = { pages: [], style: [], script: [] };
  for (const [at, assignment] of assignments.entries()) {
    const isShared = PARTS.reduce((sum, part) => sum + left[part].length, 0) >= WORTH_A_THREAD;
    const known = bench.cache && !isShared ? recall(assignment, bench) : null;
    if (known && 'findings' in known) verdicts[at] = known.findings;
    else left[assignment.part].push(at);
  }
  const given = (part: Part) => left[part].map((at) => assignments[at] as Assignment);
  const lists = { pages: given('pages'), style: given('style'), script: given('script') };
  const work = { assignments: lists, site, cache, version };
  for (const [part, at, findings] of await shareOut(work, bench)) verdicts[left[part][at] as number] = findings;
  bench.cache?.save();
  return verdicts;
}

async function shareOut(given: Omit<Work, 'taken' | 'prefers'>, bench: Bench): Promise<Verdicts> {
  const taken = new SharedArrayBuffer(4 * PARTS.length);
  const count = PARTS.reduce((sum, part) => sum + given.assignments[part].length, 0);
  const threads = Math.min(MOST_THREADS, availableParallelism(), Math.ceil(count / WORTH_A_THREAD));
  const workOf = (n: number): Work => ({ ...given, taken, prefers: PREFERENCES[n % PREFERENCES.length] as Part });
  const others = Array.from({ length: Math.max(0, threads - 1) }, (_, n) => hire(workOf(n + 1)));
  const own = await takeTurns(workOf(0), bench);
  const verdicts = [own, ...(await Promise.all(others))].flat();
  // A thread that died took what it had judged with it: that is judged again here.
  const judged = new Set(verdicts.map(([part, at]) => `${part} ${at}`));
  for (const part of PARTS) {
    for (const [at, assignment] of given.assignments[part].entries()) {
      if (!judged.has(`${part} ${at}`)) verdicts.push([part, at, await judgePart(assignment, bench)]);
    }
  }
  return verdicts;
}

/** Judges the next assignment, and the next, until none is left. */
export async function takeTurns(work: Work, bench: Bench): Promise<Verdicts> {
  const taken = new Int32Array(work.taken);
  const verdicts: Verdicts = [];
  for (const part of new Set([work.prefers, ...THEN])) {
    for (;;) {
      const at = Atomics.add(taken, PARTS.indexOf(part), 1);
      const assignment = work.assignments[part][at];
      if (!assignment) break;
      verdicts.push([part, at, await judgePart(assignment, bench)]);
    }
  }
  return verdicts;
}

/** Starts a thread. @returns its verdicts; none if it fails, or where only the sources are there and not the build. */
function hire(work: Work): Promise<Verdicts> {
  const file = new URL('./worker.js', import.meta.url);
  if (!existsSync(file)) return Promise.resolve([]);
  return new Promise((resolve) => {
    const worker = new Worker(file, { workerData: work });
    worker.once('message', (verdicts: Verdicts) => resolve(verdicts));
    worker.once('error', () => resolve([]));
    worker.once('exit', () => resolve([]));
  });
}
