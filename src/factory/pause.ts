import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileDurable } from '../support/files.ts';

const shape = z.object({ since: z.string(), by: z.string() });
export type Paused = z.infer<typeof shape>;

const fileOf = (data: string) => join(data, 'paused.json');

/** Whether the schedule is paused; kept in the data folder, so that a restart does not resume it. */
export async function readPause(data: string): Promise<Paused | null> {
  const text = await readFile(fileOf(data), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    return { since: '', by: 'an unreadable paused.json' };
  }
}

export async function writePause(data: string, paused: Paused | null): Promise<void> {
  if (paused === null) await rm(fileOf(data), { force: true });
  else await writeFileDurable(fileOf(data), `${JSON.stringify(paused)}\n`);
}
