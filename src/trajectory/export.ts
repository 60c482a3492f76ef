import { randomBytes } from 'node:crypto';
import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { chainOf } from '../session/chain.ts';
import { FactoryError } from '../support/errors.ts';
import { syncFolder } from '../support/files.ts';
import type { MachineryBlock } from './machinery.ts';
import { writeRow } from './row.ts';
import { sameTree } from './same.ts';
import type { TrajectoryFacts } from './types.ts';

export interface ExportOptions {
  /** The folder of session logs. */
  sessions: string;
  /** The last session of the chain. */
  id: string;
  /** The row goes to `out/<id>/<id>.jsonl` and `out/<id>/images/`. */
  out: string;
  /** Whether superseded conversations are in the row; they are unless refused. */
  snapshots?: boolean;
  /** Makes the `machinery` block once the trajectory is known; without it the row has none. */
  machinery?: (facts: TrajectoryFacts) => MachineryBlock | undefined;
}

/** The name of a folder that a row is made in before it is put in place; a crash can leave one. */
export const UNFINISHED = /^\.(\d{8}-\d{6}(?:-\d+)?)\.[0-9a-f]{12}\.tmp$/;

/**
 * Puts a finished folder in its place. One that is there already and holds the same is left as it is.
 * @throws FactoryError `row/different` when it holds something else; both the old row and the logs are untouched.
 */
async function place(made: string, target: string, id: string): Promise<void> {
  if (!(await lstat(target).catch(() => null))) {
    try {
      return await rename(made, target);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(code)) throw error;
    }
  }
  if (await sameTree(made, target)) return;
  throw new FactoryError('row/different', {
    message: `a row ${id} that says something else is there already: ${target}`,
    mend: 'A row is final. Keep the one that is there, or move it away first and export again.',
    data: { id, target },
  });
}

/**
 * Renders a session's chain as a row, whole or not at all: into a folder beside its place, flushed, then renamed.
 * Exporting the same again changes nothing.
 * @throws FactoryError `session/invalid-id`, `session/unknown`, `session/cycle` or `row/different`; nothing is written then.
 */
export async function exportTrajectory(options: ExportOptions): Promise<TrajectoryFacts> {
  const { sessions, id, out, snapshots = true, machinery } = options;
  const chain = await chainOf(sessions, id);
  await mkdir(out, { recursive: true, mode: 0o700 });
  const made = join(out, `.${id}.${randomBytes(6).toString('hex')}.tmp`);
  await mkdir(made, { mode: 0o700 });
  try {
    const facts = await writeRow({ sessions, chain, folder: made, snapshots, machinery });
    await syncFolder(made);
    await place(made, join(out, id), id);
    await syncFolder(out);
    return facts;
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
