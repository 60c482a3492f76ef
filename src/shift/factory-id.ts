import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurable } from '../support/files.ts';

/** This factory's id, made at first use and kept in the data folder: it tells our branches from another factory's. */
export async function factoryId(data: string): Promise<string> {
  const file = join(data, 'factory-id');
  const known = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (/^[0-9a-f]{12}$/.test(known)) return known;
  const made = randomBytes(6).toString('hex');
  await writeFileDurable(file, `${made}\n`);
  return made;
}
