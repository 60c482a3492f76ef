import type { SessionLine } from '../session/types.ts';
import type { Activity } from './types.ts';

const LONGEST = 200;

/** Text as one line of at most 200 characters; control characters become spaces. */
function oneLine(text: string): string {
  const line = text
    .slice(0, LONGEST * 20)
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`;
}

/** Events that only count things, and those a message tells better. */
const SILENT = new Set(['usage', 'message', 'toolCallEnd']);

/** What a line of a session log says about what the agent does now; null when it says nothing to a person who watches. */
export function activityOf(line: SessionLine): Activity | null {
  const told = (kind: Activity['kind'], text: string): Activity | null => {
    const short = oneLine(text);
    return short === '' ? null : { at: line.at, kind, text: short };
  };
  if (line.kind === 'event') {
    const { kind, tool, text, iteration } = line.event;
    if (SILENT.has(kind)) return null;
    if (kind === 'iteration') return told('event', `iteration ${iteration ?? text ?? ''}`);
    // Said when the call begins; its message comes only at the end of the round, when it is old news.
    if (kind === 'toolCallStart') return told('call', `${tool ?? ''} ${text ?? ''}`);
    return told('event', [kind, tool, text].filter(Boolean).join(' '));
  }
  if (line.kind === 'result') return told('event', `ended: ${line.result.reason}`);
  if (line.kind !== 'message') return null;
  const { type, text, activity } = line.message;
  if (type === 'bot') return told('say', text);
  if (type !== 'activity' || !activity) return null;
  if (activity.kind !== 'response') return null;
  const result =
    activity.failure ?? (typeof activity.result === 'string' ? activity.result : JSON.stringify(activity.result ?? ''));
  return told('result', `${activity.name ?? ''} ${result}`);
}
