import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** `YYYYMMDD-HHMMSS` of a moment, in UTC: the stem of every shift's and session's id. */
export function idOf(at: Date): string {
  const [day, time] = at.toISOString().split('T') as [string, string];
  return `${day.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
}

/** The shape of an id: a UTC second, and `-2`, `-3`… when that second was taken. */
export const ID_PATTERN = /^\d{8}-\d{6}(-\d+)?$/;

/** Orders ids by time, and the ids of one second by their number: `…-2` comes before `…-10`. */
export function compareIds(a: string, b: string): number {
  const [stemA, stemB] = [a.slice(0, 15), b.slice(0, 15)];
  if (stemA !== stemB) return stemA < stemB ? -1 : 1;
  return Number(a.slice(16) || 1) - Number(b.slice(16) || 1);
}

/**
 * Claims a free id in a folder by calling `take(id)` with `stem`, `stem-2`, `stem-3`… until one does not answer EEXIST.
 * @returns the id that was taken.
 */
export async function claimId(stem: string, take: (id: string) => Promise<void>): Promise<string> {
  for (let n = 1; n <= 1000; n += 1) {
    const id = n === 1 ? stem : `${stem}-${n}`;
    try {
      await take(id);
      return id;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`a thousand ids from ${stem} are taken`);
}

/** Claims an id as a new folder `parent/<id>` (mode 0700). */
export async function claimFolder(parent: string, at: Date): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return claimId(idOf(at), (id) => mkdir(join(parent, id), { mode: 0o700 }).then(() => {}));
}
