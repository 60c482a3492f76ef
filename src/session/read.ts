import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ID_PATTERN, compareIds } from '../support/ids.ts';
import { asLine } from './line.ts';
import { scanLines } from './scan.ts';
import type { SessionLine, SessionMessage, SessionMeta, SessionResult } from './types.ts';

export { imageBytes } from './blobs.ts';

/** What a log says besides its conversation; read without holding a message. */
export interface SessionSummary {
  /** The log's own name without `.jsonl`: what names a session, whatever its meta says. */
  id: string;
  /** The first meta; empty strings when the log has none. */
  meta: SessionMeta;
  /** How many lines were understood. */
  lines: number;
  /** How many messages were recorded, discarded ones too. */
  messages: number;
  /** Whether a line was not JSON or too long to read: what a killed run leaves. */
  truncated: boolean;
  /** First and last `at`, as recorded; '' when there is none. */
  started: string;
  ended: string;
  /** Absent when the run is unfinished. */
  result?: SessionResult;
}

/** What a reader may want to know beyond the lines themselves. */
export interface ReadNotes {
  /** Called once for every line that is not JSON or longer than 16 MiB. */
  broken?: () => void;
  /** Called with the `at` of every line that is JSON, known or not. */
  at?: (at: string) => void;
}

/**
 * Streams a log's lines in order. Blank lines are skipped; a line that is not JSON or longer than 16 MiB is skipped and
 * told; unknown kinds and fields are ignored. Whatever the file holds, only reading it can fail.
 */
export async function* readLines(path: string, notes: ReadNotes = {}): AsyncGenerator<SessionLine> {
  for await (const batch of scanLines(path)) {
    for (const bytes of batch) {
      const line = readText(bytes === null ? null : bytes.toString('utf8'), notes);
      if (line) yield line;
    }
  }
}

/**
 * Reads one line's text as `readLines` does; null stands for a line too long to read.
 * @returns null when there is nothing to hand out.
 */
export function readText(json: string | null, notes: ReadNotes): SessionLine | null {
  let value: unknown;
  try {
    if (json === null) throw new RangeError('the line is too long');
    value = JSON.parse(json);
  } catch {
    if (json === null || json.trim() !== '') notes.broken?.();
    return null;
  }
  const at = (value as { at?: unknown } | null)?.at;
  if (typeof at === 'string' && at !== '') notes.at?.(at);
  return asLine(value);
}

/** Reads a log's frame: meta, result, times. Its messages are counted, not kept. */
export async function openSession(path: string): Promise<SessionSummary> {
  const id = basename(path).replace(/\.jsonl$/, '');
  let meta: SessionMeta | null = null;
  let result: SessionResult | null = null;
  const told = { lines: 0, messages: 0, truncated: false, started: '', ended: '' };
  const notes: ReadNotes = {
    broken: () => {
      told.truncated = true;
    },
    at: (at) => {
      told.started ||= at;
      told.ended = at;
    },
  };
  for await (const line of readLines(path, notes)) {
    told.lines += 1;
    if (line.kind === 'message') told.messages += 1;
    else if (line.kind === 'meta') meta ??= line.meta;
    else if (line.kind === 'result') result = line.result;
  }
  meta ??= { id, task: '', model: '', provider: '', driver: '' };
  return { id, meta, ...told, ...(result ? { result } : {}) };
}

/** The conversation as a resume would replay it: the messages since the last reset. */
export async function conversation(path: string): Promise<SessionMessage[]> {
  let messages: SessionMessage[] = [];
  for await (const line of readLines(path)) {
    if (line.kind === 'message') messages.push(line.message);
    else if (line.kind === 'reset') messages = [];
  }
  return messages;
}

/** Ids of the logs in a folder, oldest first. A folder that is not there has none. */
export async function listSessions(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => entry.name.slice(0, -'.jsonl'.length))
    .filter((id) => ID_PATTERN.test(id))
    .sort(compareIds);
}

/** The newest log's id in a folder, or null when it has none. */
export async function newestSession(dir: string): Promise<string | null> {
  return (await listSessions(dir)).at(-1) ?? null;
}

/** Where a session's log is. */
export function logPath(dir: string, id: string): string {
  return join(dir, `${id}.jsonl`);
}
