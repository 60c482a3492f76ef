import { type Literals, messageLiterals } from '../session/literals.ts';
import { logPath, readText } from '../session/read.ts';
import { scanLines } from '../session/scan.ts';
import type { SessionLine, SessionMessage, SessionMeta, SessionResult } from '../session/types.ts';

/** What a log says beside its conversation. */
interface Frame {
  meta?: SessionMeta;
  result?: SessionResult;
  truncated: boolean;
  started: string;
  ended: string;
}

/** What is done with the conversations of a chain, in the order they were held. */
export interface Walker {
  /** The conversation so far is superseded: by a reset, or by the next session of the chain. */
  restart(): Promise<void>;
  /** A promise is only returned when there is something to wait for. */
  message(message: SessionMessage, literals: Literals, session: string): Promise<void> | undefined;
}

/** What a chain says beside its conversations. */
export interface ChainFrame {
  last: Frame;
  /** The earliest `started` in the chain, as recorded; '' when no log has a time. */
  started: string;
  /** Count by kind over the whole chain, by name. */
  events: Record<string, number>;
}

/** Streams one log's lines to `take` and returns its frame. */
async function walkLog(
  path: string,
  take: (line: SessionLine, json: string) => Promise<void> | undefined,
): Promise<Frame> {
  const frame: Frame = { truncated: false, started: '', ended: '' };
  const notes = {
    broken: () => {
      frame.truncated = true;
    },
    at: (at: string) => {
      frame.started ||= at;
      frame.ended = at;
    },
  };
  for await (const batch of scanLines(path)) {
    for (const bytes of batch) {
      const json = bytes === null ? null : bytes.toString('utf8');
      const line = readText(json, notes);
      if (json === null || line === null) continue;
      if (line.kind === 'meta') frame.meta ??= line.meta;
      else if (line.kind === 'result') frame.result = line.result;
      const taken = take(line, json);
      // Most lines need no wait, and a wait a line would be a good part of the time an export takes.
      if (taken) await taken;
    }
  }
  return frame;
}

/** The earliest of the times that can be read; as recorded, for a row repeats what the log says. */
function earliest(times: string[]): string {
  const known = times.filter((time) => !Number.isNaN(Date.parse(time)));
  return known.reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a), known[0] ?? times[0] ?? '');
}

/** Reads the logs of a chain once, oldest first, holding one line at a time. */
export async function walkChain(sessions: string, chain: string[], walker: Walker): Promise<ChainFrame> {
  const events = new Map<string, number>();
  const starts: string[] = [];
  let last: Frame = { truncated: false, started: '', ended: '' };
  for (const session of chain) {
    await walker.restart();
    last = await walkLog(logPath(sessions, session), (line, json) => {
      if (line.kind === 'message') return walker.message(line.message, messageLiterals(json), session);
      if (line.kind === 'reset') return walker.restart();
      if (line.kind === 'event') events.set(line.event.kind, (events.get(line.event.kind) ?? 0) + 1);
      return undefined;
    });
    if (last.started !== '') starts.push(last.started);
  }
  const counted = [...events].sort(([a], [b]) => (a < b ? -1 : 1));
  return { last, started: earliest(starts), events: Object.fromEntries(counted) };
}
