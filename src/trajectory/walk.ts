import { type Literals, messageLiterals } from '../session/literals.ts';
import { readText } from '../session/read.ts';
import { type Stretch, scanLines } from '../session/scan.ts';
import type { SessionLine, SessionMessage, SessionMeta, SessionResult } from '../session/types.ts';
import { usualLine } from '../session/usual.ts';

/** What a log, or a stretch of one, says beside its conversation. */
export interface Frame {
  meta?: SessionMeta;
  result?: SessionResult;
  truncated: boolean;
  /** First and last `at`, as recorded; '' when there is none. */
  started: string;
  ended: string;
}

/** What is done with the conversations of a log, in the order they were held. */
export interface Walker {
  /** The conversation so far is superseded by a reset. */
  restart(): Promise<void>;
  /** A promise is only returned when there is something to wait for. */
  message(message: SessionMessage, literals: Literals): Promise<void> | undefined;
  event(kind: string): void;
}

function take(line: SessionLine, frame: Frame, walker: Walker, literals: () => Literals): Promise<void> | undefined {
  if (line.kind === 'message') return walker.message(line.message, literals());
  if (line.kind === 'reset') return walker.restart();
  if (line.kind === 'event') walker.event(line.event.kind);
  else if (line.kind === 'meta') frame.meta ??= line.meta;
  else frame.result = line.result;
  return undefined;
}

/** Reads a stretch of a log once, holding one line at a time. @returns its frame. */
export async function walkLog(path: string, stretch: Stretch, walker: Walker): Promise<Frame> {
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
  for await (const batch of scanLines(path, stretch)) {
    for (const bytes of batch) {
      const json = bytes === null ? null : bytes.toString('utf8');
      const usual = json === null ? null : usualLine(json);
      if (usual && usual.line.at !== '') notes.at(usual.line.at);
      const line = usual ? usual.line : readText(json, notes);
      if (json === null || line === null) continue;
      const taken = take(line, frame, walker, () => usual?.literals ?? messageLiterals(json));
      // Most lines need no wait, and a wait a line would be a good part of the time an export takes.
      if (taken) await taken;
    }
  }
  return frame;
}

/** What a log says at its start: its meta and its first time, read no further than both take. */
export async function opening(path: string): Promise<Frame> {
  const frame: Frame = { truncated: false, started: '', ended: '' };
  const at = (time: string): void => {
    frame.started ||= time;
    frame.ended = time;
  };
  for await (const batch of scanLines(path)) {
    for (const bytes of batch) {
      const line = readText(bytes === null ? null : bytes.toString('utf8'), { at });
      if (line?.kind === 'meta') frame.meta ??= line.meta;
      if (frame.meta && frame.started !== '') return frame;
    }
  }
  return frame;
}

/** The frame of two stretches of one log, the later one second. */
export function joined(first: Frame, second: Frame): Frame {
  const [meta, result] = [first.meta ?? second.meta, second.result ?? first.result];
  return {
    ...(meta ? { meta } : {}),
    ...(result ? { result } : {}),
    truncated: first.truncated || second.truncated,
    started: first.started || second.started,
    ended: second.ended || first.ended,
  };
}

/** The earliest of the times that can be read; as recorded, for a row repeats what the log says. */
export function earliest(times: string[]): string {
  const told = times.filter((time) => time !== '');
  const known = told.filter((time) => !Number.isNaN(Date.parse(time)));
  return known.reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a), known[0] ?? told[0] ?? '');
}
