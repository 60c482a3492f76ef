import type { Conversation } from './conversation.ts';
import type { Line } from './voice.ts';

/** One assistant turn: what it thinks, what it says, what it does. */
export interface Turn extends Line {
  calls: { name: string; args: Record<string, unknown> }[];
}

export const turn = (line: Line, ...calls: Turn['calls']): Turn => ({ ...line, calls });
export const call = (name: string, args: Record<string, unknown>) => ({ name, args });
export const shell = (command: string) => call('shell', { command });

/** The same call made this often since the last prompt, with nothing to show for it, will not work the next time either. */
const PATIENCE = 3;

/** Gives up where the same turn was tried in vain too often; everything else goes through as it is. */
export function orGiveUp(next: Turn, conversation: Conversation): Turn {
  const first = next.calls[0];
  if (!first || first.name === 'success' || first.name === 'failure') return next;
  const since = conversation.prompts.at(-1)?.at ?? -1;
  const wanted = JSON.stringify(first);
  const tried = conversation.calls.filter(
    ({ name, args, at }) => at > since && JSON.stringify({ name, args }) === wanted,
  );
  if (tried.length < PATIENCE) return next;
  return giveUp(`\`${first.name}\` was tried ${PATIENCE} times and its last answer was: ${tail(tried.at(-1)?.result)}`);
}

export function giveUp(reason: string): Turn {
  return turn(
    { reasoning: 'I have done what I can with this, and the rest is not mine to mend. Better to say so plainly.' },
    call('failure', { reason }),
  );
}

/** The end of an output, where the reason usually is. */
export function tail(text: string | undefined, most = 600): string {
  const trimmed = (text ?? '').trim();
  return trimmed.length <= most ? trimmed || 'nothing' : `…${trimmed.slice(-most)}`;
}
