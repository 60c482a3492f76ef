import { readFileSync, readdirSync } from 'node:fs';

/** What Linux tells of other processes, see proc(5). Where there is no /proc, none can be seen. */

/** One process. `started` is in clock ticks since boot: with the pid it names a process for good. */
export interface Process {
  pid: number;
  parent: number;
  group: number;
  started: number;
}

/** The ids of all processes that can be seen. */
function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** One process, or null when it is gone, or dead and not yet reaped. */
export function readProcess(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name stands in brackets and may hold anything, brackets too: fields are counted from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return { pid, parent: Number(fields[1]), group: Number(fields[2]), started: Number(fields[19]) };
  } catch {
    return null;
  }
}

/** Every process that can be seen and is not dead. */
export function processTable(): Process[] {
  return processIds().flatMap((pid) => readProcess(pid) ?? []);
}

function strings(pid: number, file: 'environ' | 'cmdline'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0');
  } catch {
    // Gone, or somebody else's.
    return [];
  }
}

/** The value of a variable in the environment a process was started with, byte by byte; null when it has none. */
export function variableOf(pid: number, name: string): string | null {
  const entry = strings(pid, 'environ').find((each) => each.startsWith(`${name}=`));
  return entry === undefined ? null : entry.slice(name.length + 1);
}

/** The words a process was started with, byte by byte; none when it is gone. */
export function commandOf(pid: number): string[] {
  return strings(pid, 'cmdline');
}
