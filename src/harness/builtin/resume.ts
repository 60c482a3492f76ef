import { conversation, logPath, openSession } from '../../session/read.ts';
import type { SessionMessage, SessionMeta } from '../../session/types.ts';
import { FactoryError } from '../../support/errors.ts';
import { requireId } from '../../session/chain.ts';

/** Why a call of an interrupted run has no result. */
const INTERRUPTED = 'interrupted: the run ended before this call was answered';

/** An earlier session, ready to be continued. */
export interface Earlier {
  meta: SessionMeta;
  messages: SessionMessage[];
}

/**
 * Reads the session to continue, whichever harness wrote it. Every call in it ends up with exactly one result after it.
 * @throws FactoryError `session/unknown` or `session/invalid-id`.
 */
export async function earlierSession(dir: string, id: string): Promise<Earlier> {
  const path = logPath(dir, requireId(id));
  try {
    const { meta } = await openSession(path);
    return { meta, messages: mended(await conversation(path)) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new FactoryError('session/unknown', {
      message: `there is no session ${id} in ${dir}`,
      mend: 'Look into the folder for the ids it has; a fresh run is started with --fresh.',
      data: { id, dir },
    });
  }
}

/** The conversation with a failure after each call that was never answered, and no result that answers nothing. */
export function mended(messages: SessionMessage[]): SessionMessage[] {
  const answers = new Map<string, number>();
  for (const { activity } of messages) {
    if (activity?.kind === 'response') answers.set(activity.id ?? '', (answers.get(activity.id ?? '') ?? 0) + 1);
  }
  const open = new Map<string, number>();
  return messages.flatMap((message) => {
    const { activity } = message;
    const id = activity?.id ?? '';
    if (activity?.kind === 'response') {
      const asked = open.get(id) ?? 0;
      open.set(id, Math.max(0, asked - 1));
      return asked > 0 ? [message] : [];
    }
    if (activity?.kind !== 'request') return [message];
    const left = answers.get(id) ?? 0;
    answers.set(id, Math.max(0, left - 1));
    if (left > 0) {
      open.set(id, (open.get(id) ?? 0) + 1);
      return [message];
    }
    const { name, arguments: args } = activity;
    const answer = { kind: 'response', id, ...(name ? { name } : {}), ...(args ? { arguments: args } : {}) };
    return [message, { type: 'activity', text: INTERRUPTED, activity: { ...answer, failure: INTERRUPTED } }];
  });
}
