import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepTemporary } from '../support/files.ts';

/** The data folder's own folders; docs/design.md, State. */
const FOLDERS = [
  'cache',
  'dataset',
  'outbox',
  'quarantine',
  'records',
  'scratch',
  'sessions',
  'shifts',
  'trees',
] as const;

/**
 * Lays out the data folder, everything in it closed to others (0700): where the agent has a user of its own it may pass
 * through the data folder to its checkout, so each folder beside that must be shut by itself. Safe to repeat.
 */
export async function layOut(data: string): Promise<void> {
  await mkdir(data, { recursive: true, mode: 0o700 });
  for (const name of FOLDERS) {
    await mkdir(join(data, name), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await chmod(join(data, name), 0o700);
  }
}

/** Removes half-written files that a dead process left. The caller holds the data folder's lock. */
export async function sweepData(data: string): Promise<void> {
  for (const name of ['', ...FOLDERS]) await sweepTemporary(join(data, name));
}
