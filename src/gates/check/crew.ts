import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Finding } from '../finding.ts';
import { openCache } from './cache.ts';
import { type Assignment, type Bench, judgeMachine, recall } from './machine.ts';

/**
 * Judges machines on as many threads as there are cores. The threads take the next machine from a shared counter, this one
 * too, so that none waits for another and none is idle.
 */

/** Starting a thread and its parsers costs about as much as judging this many machines. */
const WORTH_A_THREAD = 12;
/** More threads than this gain little and each holds its own memory. */
const MOST_THREADS = 4;

/** What a thread is given to start with; it answers with `[number of the machine, its findings]` pairs. */
export interface Work {
  assignments: Assignment[];
  site: string;
  cache: string | null;
  version: string;
  counter: SharedArrayBuffer;
}

export type Verdicts = [number, Finding[]][];

/** @returns the findings of each machine, in the order they were given. */
export async function judgeAll(
  assignments: readonly Assignment[],
  site: string,
  cache: string | null,
  version: string,
): Promise<Finding[][]> {
  const bench: Bench = { site, cache: cache === null ? null : openCache(cache), version };
  const verdicts: Finding[][] = new Array(assignments.length);
  // What is remembered costs next to nothing; what is left is worth sharing out, the looking too once much is left.
  const left: number[] = [];
  for (const [at, assignment] of assignments.entries()) {
    const known = left.length < WORTH_A_THREAD ? recall(assignment, bench) : null;
    if (known && 'findings' in known) verdicts[at] = known.findings;
    else left.push(at);
  }
  const given = left.map((at) => assignments[at] as Assignment);
  for (const [at, findings] of await shareOut(given, bench, cache)) verdicts[left[at] as number] = findings;
  return verdicts;
}

async function shareOut(assignments: Assignment[], bench: Bench, cache: string | null): Promise<Verdicts> {
  const counter = new SharedArrayBuffer(4);
  const work: Work = { assignments, site: bench.site, cache, version: bench.version, counter };
  const threads = Math.min(MOST_THREADS, availableParallelism(), Math.ceil(assignments.length / WORTH_A_THREAD));
  const others = Array.from({ length: threads - 1 }, () => hire(work)).filter((worker) => worker !== null);
  const own = await takeTurns(work, bench);
  const verdicts = [own, ...(await Promise.all(others))].flat();
  // A thread that died took at most one machine with it: that one is judged here.
  const judged = new Set(verdicts.map(([at]) => at));
  for (const [at, assignment] of assignments.entries()) {
    if (!judged.has(at)) verdicts.push([at, await judgeMachine(assignment, bench)]);
  }
  return verdicts;
}

/** Judges the next machine, and the next, until none is left. */
export async function takeTurns(work: Work, bench: Bench): Promise<Verdicts> {
  const next = new Int32Array(work.counter);
  const verdicts: Verdicts = [];
  for (;;) {
    const at = Atomics.add(next, 0, 1);
    const assignment = work.assignments[at];
    if (!assignment) return verdicts;
    verdicts.push([at, await judgeMachine(assignment, bench)]);
  }
}

/** Starts a thread. @returns its verdicts, none if it fails; null where only the sources are there and not the build. */
function hire(work: Work): Promise<Verdicts> | null {
  const file = new URL('./worker.js', import.meta.url);
  if (!existsSync(file)) return null;
  return new Promise((resolve) => {
    // A machine's parsers want little memory at a time; without a limit the young generation grows to what it never needs.
    const worker = new Worker(file, { workerData: work, resourceLimits: { maxYoungGenerationSizeMb: 16 } });
    worker.once('message', (verdicts: Verdicts) => resolve(verdicts));
    worker.once('error', () => resolve([]));
    worker.once('exit', () => resolve([]));
  });
}
