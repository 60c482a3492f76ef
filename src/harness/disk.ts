import { lstat, opendir, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from './types.ts';

/**
 * Keeping an agent from filling the disk. No plain user can set a quota, so what a run wrote is measured while it runs,
 * and one file may not outgrow the limit in between.
 */

/** What a run may take of the disk, in bytes. */
export interface DiskLimits {
  /** What its folders may grow by together. */
  used: number;
  /** What must stay free on their disk, whoever fills it: what an open file holds that has no name any more is seen here only. */
  free: number;
}

/** How long after one measuring the next begins, in milliseconds. */
const EVERY = 2000;

/** What a name costs beside its content: a flood of empty files counts too, and measuring them comes to an end. */
const ENTRY = 4096;

/**
 * Bytes that a folder takes of its disk, up to `most`, where the counting ends. Links are not followed; what is gone, or
 * shut to us, by the time it is looked at counts nothing.
 */
export async function bytesIn(folder: string, most: number): Promise<number> {
  let bytes = 0;
  const pending = [folder];
  for (let path = pending.pop(); path !== undefined && bytes <= most; path = pending.pop()) {
    try {
      for await (const { name } of await opendir(path)) {
        const at = await lstat(join(path, name)).catch(() => null);
        // A sparse file takes what was written of it, whatever its length says.
        bytes += ENTRY + (at?.isFile() ? at.blocks * 512 : 0);
        if (at?.isDirectory()) pending.push(join(path, name));
        if (bytes > most) break;
      }
    } catch {
      // It went away meanwhile, or is shut: the free space tells.
    }
  }
  return bytes;
}

const told = (bytes: number) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** A folder, and what it took of its disk before the run. */
export interface Measured {
  folder: string;
  bytes: number;
}

/** What is over a limit now, in words; null when nothing is. */
async function overLimit(before: readonly Measured[], { used, free }: DiskLimits): Promise<string | null> {
  const disk = await statfs(before[0]?.folder ?? '/');
  const left = disk.bavail * disk.bsize;
  if (left < free) return `the disk has ${told(left)} left, and ${told(free)} must stay free`;
  let grown = 0;
  let most = { name: '', bytes: 0 };
  for (const { folder, bytes } of before) {
    const growth = (await bytesIn(folder, bytes + used - grown)) - bytes;
    if (growth > most.bytes) most = { name: basename(folder), bytes: growth };
    grown += growth;
    if (grown > used) return `it wrote more than ${told(used)}, at least ${told(most.bytes)} of it in ${most.name}`;
  }
  return null;
}

/**
 * Measures a run's folders before it starts: earlier sessions of the chain are there already, and must not count against
 * those that continue them.
 */
export async function measured(folders: readonly string[]): Promise<Measured[]> {
  return Promise.all(folders.map(async (folder) => ({ folder, bytes: await bytesIn(folder, Infinity) })));
}

/** Measures what folders have grown by, until stopped. @param over told once, in words, when a limit is passed. @returns stops it. */
export function watchDisk(before: readonly Measured[], limits: DiskLimits, over: (why: string) => void): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout;
  const look = async () => {
    const why = await overLimit(before, limits).catch(() => null);
    if (stopped) return;
    if (why !== null) return over(why);
    timer = setTimeout(look, EVERY);
  };
  timer = setTimeout(look, EVERY);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Exit codes with which a shell says that it could not start a program. */
export const NOT_STARTED: readonly (number | null)[] = [126, 127];

/** The command line that starts a program which, with all it starts, writes no file larger than the limit, and no core. */
export function withFileLimit(
  { file, args }: Pick<Command, 'file' | 'args'>,
  limits: DiskLimits | undefined,
): Pick<Command, 'file' | 'args'> {
  if (!limits) return { file, args };
  // The shell counts in blocks of 512 bytes. A lower limit that is set already stays.
  const blocks = String(Math.ceil(limits.used / 512));
  const script = 'ulimit -c 0; ulimit -f "$1"; shift; exec "$@"';
  return { file: '/bin/sh', args: ['-c', script, 'sh', blocks, file, ...args] };
}
