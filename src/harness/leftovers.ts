import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Process, processTable, readProcess, variableOf } from '../support/proc.ts';

/** Finding and ending what a harness left behind: processes in groups and sessions of their own, which no group kill reaches. */

/** The part of a mark that names a data folder: two factories on one host never take each other's processes. */
function owner(data: string): string {
  const at = statSync(data);
  return createHash('sha256').update(`${at.dev}:${at.ino}`).digest('hex').slice(0, 12);
}

/**
 * The value of MACHINERY_SHIFT in the environment of every process of a run: `<shift>@<data folder>`. It is what proves
 * that a process is a run's own, also after the orchestrator that started it died.
 */
export function markOf(shift: string, data: string): string {
  return `${shift}@${owner(data)}`;
}

function isMarked(pid: number, test: (mark: string) => boolean): boolean {
  const mark = variableOf(pid, 'MACHINERY_SHIFT');
  return mark !== null && test(mark);
}

/** This process and those above it: never anybody's leftovers. */
function ancestry(table: Process[]): Set<number> {
  const byPid = new Map(table.map((process) => [process.pid, process]));
  const line = new Set<number>([process.pid]);
  for (let at = byPid.get(process.pid)?.parent; at && !line.has(at); at = byPid.get(at)?.parent) line.add(at);
  return line;
}

/** The given processes and everything below them. */
export function withDescendants(table: Process[], roots: Iterable<number>): Process[] {
  const wanted = new Set(roots);
  for (let size = -1; size !== wanted.size; ) {
    size = wanted.size;
    for (const process of table) if (wanted.has(process.parent)) wanted.add(process.pid);
  }
  return table.filter((process) => wanted.has(process.pid));
}

/** The processes that carry a data folder's mark (of one shift, or of any), and what they started since, marked or not. */
export function findLeftovers(data: string, shift?: string): Process[] {
  const suffix = `@${owner(data)}`;
  const test = (mark: string) => (shift === undefined ? mark.endsWith(suffix) : mark === shift + suffix);
  const table = processTable();
  const own = ancestry(table);
  const marked = table.filter((process) => !own.has(process.pid) && isMarked(process.pid, test));
  return withDescendants(
    table,
    marked.map((process) => process.pid),
  ).filter((process) => !own.has(process.pid));
}

/** Ends a process for good, unless its number belongs to another one by now. */
function endProcess(process_: Process): void {
  if (readProcess(process_.pid)?.started !== process_.started) return;
  try {
    process.kill(process_.pid, 'SIGKILL');
  } catch {
    // It ended by itself, or it is not ours to end; the next look tells.
  }
}

/**
 * Ends every process that carries a data folder's mark, and looks again until none is seen: one that forks faster than
 * it is found is found the next time.
 * @returns how many were ended, and those still there after five seconds (stuck in the kernel).
 */
export async function endLeftovers(data: string, shift?: string): Promise<{ ended: number; left: Process[] }> {
  const ended = new Set<string>();
  const until = Date.now() + 5000;
  for (;;) {
    const left = findLeftovers(data, shift);
    if (left.length === 0 || Date.now() > until) return { ended: ended.size, left };
    for (const process of left) {
      endProcess(process);
      ended.add(`${process.pid}:${process.started}`);
    }
    await sleep(20);
  }
}
