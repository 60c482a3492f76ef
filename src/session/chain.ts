import { FactoryError } from '../support/errors.ts';
import { ID_PATTERN } from '../support/ids.ts';
import { logPath, readLines } from './read.ts';

/** Refuses what is not a session's id, so that no path can stand in its place. */
export function requireId(id: string): string {
  if (ID_PATTERN.test(id)) return id;
  throw new FactoryError('session/invalid-id', {
    message: `\`${id.slice(0, 80)}\` is not a session's id`,
    mend: 'Give an id such as 20260504-120000 or 20260504-120000-2, or `last`; a path is not one.',
    data: { id: id.slice(0, 80) },
  });
}

/** Which session a log continues: null when none, undefined when the log is not there or cannot be opened. */
async function resumedFrom(dir: string, id: string): Promise<string | null | undefined> {
  try {
    // The meta is the first line; a log that lost it is read on, for an older one may have been cut at its start.
    for await (const line of readLines(logPath(dir, id))) {
      if (line.kind === 'meta') return line.meta.resumedFrom ?? null;
    }
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO'].includes(code)) return undefined;
    throw error;
  }
}

/**
 * The ids of the sessions that led to this one, oldest first, ending in `id`.
 * A link whose log is gone, or whose name is not an id, ends the walk.
 * @throws FactoryError `session/invalid-id`, `session/unknown` (no such log) or `session/cycle`.
 */
export async function chainOf(dir: string, id: string): Promise<string[]> {
  const chain: string[] = [];
  let at: string | null = requireId(id);
  while (at !== null) {
    if (chain.includes(at)) {
      throw new FactoryError('session/cycle', {
        message: `the chain of session ${id} runs in a circle: ${[...chain, at].join(' continues ')}`,
        mend: 'Correct `resumedFrom` in the meta line of one of these logs; nothing was written.',
        data: { id, chain },
      });
    }
    const older = await resumedFrom(dir, at);
    if (older === undefined) break;
    chain.push(at);
    at = older !== null && ID_PATTERN.test(older) ? older : null;
  }
  if (chain.length > 0) return chain.reverse();
  throw new FactoryError('session/unknown', {
    message: `there is no session ${id} in ${dir}`,
    mend: 'Look into the folder for the ids it has, or name another with --sessions.',
    data: { id, dir },
  });
}
