import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { blobName } from '../session/blobs.ts';
import { newestSession, readText } from '../session/read.ts';
import { LONGEST_LINE, openRegular } from '../session/scan.ts';
import type { SessionLine, SessionMessage } from '../session/types.ts';
import { type ShiftRecord, compareIds } from '../shift/record.ts';
import { sessionFolderOf } from '../shift/sessions.ts';
import { Renderer } from '../trajectory/render.ts';
import type { ChatMessage } from '../trajectory/types.ts';
import type { ShiftSummary } from './shift-book.ts';

/** A session's log and where it is. */
export interface Session {
  folder: string;
  id: string;
}

/** One turn of a session that may still be at work. */
export interface LiveTurn {
  /** The byte of its first line: the same however often the log is read. */
  place: number;
  /** As recorded. */
  at: string;
  message: ChatMessage;
}

/** The last turns before a place, oldest first. */
export interface SessionTail {
  turns: LiveTurn[];
  /** Where an earlier stretch ends; 0 when there is none. */
  from: number;
  /** Lines in this stretch that say nothing readable. */
  broken: number;
}

/** Bytes read at a time: some hundred turns. Only a line that is longer makes it more, up to the longest a log may hold. */
const STRETCH = 1024 * 1024;

/**
 * The session that a shift worked or works, found by what is known while it runs: its own fresh folder, or the chain that
 * its branch belongs to. null when the agent has not begun.
 */
export async function sessionOf(
  data: string,
  { id, session, branch, verdict }: ShiftRecord,
  shifts: readonly ShiftSummary[],
): Promise<Session | null> {
  const known = session ?? shifts.find((other) => other.branch === branch && other.session !== null)?.session ?? null;
  const chain = known && (await sessionFolderOf(data, known));
  if (verdict !== null && session !== null) return chain ? { folder: chain, id: session } : null;
  for (const folder of [join(data, 'sessions', `open-${id}`), chain]) {
    const newest = folder ? await newestSession(folder).catch(() => null) : null;
    // An older one is of an earlier shift on this branch.
    if (folder && newest && compareIds(newest, id) >= 0) return { folder, id: newest };
  }
  return null;
}

/**
 * Reads a log's last turns, or those before a place. Whatever the log holds (it may be half-written, and the agent can
 * write it), a bounded piece is read and what cannot be understood is counted.
 */
export async function readTail({ folder, id }: Session, before: number | null, most: number): Promise<SessionTail> {
  const file = await openRegular(join(folder, `${id}.jsonl`)).catch(() => null);
  if (!file) return { turns: [], from: 0, broken: 0 };
  try {
    const { size } = await file.stat();
    const { bytes, start } = await stretch(file, before === null ? size : Math.min(before, size));
    return render(bytes, start, most);
  } finally {
    await file.close();
  }
}

/** The whole lines that end at or before a byte. */
async function stretch(file: FileHandle, end: number): Promise<{ bytes: Buffer; start: number }> {
  for (let want = STRETCH; ; want *= 4) {
    const start = Math.max(0, end - want);
    const buffer = Buffer.allocUnsafe(end - start);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    const bytes = buffer.subarray(0, bytesRead);
    // The first line is whole at the file's beginning, and anywhere else only after a line's end.
    const first = start === 0 ? 0 : bytes.indexOf(10) + 1;
    const last = bytes.lastIndexOf(10) + 1;
    const some = last > first || start === 0 || want >= LONGEST_LINE;
    if (some) return { bytes: bytes.subarray(first, Math.max(first, last)), start: start + first };
  }
}

function render(bytes: Buffer, start: number, most: number): SessionTail {
  const turns: LiveTurn[] = [];
  let broken = 0;
  let now = { place: start, at: '' };
  let opened: typeof now | null = null;
  const renderer = new Renderer((pieces) => {
    const message = JSON.parse(pieces.join('')) as ChatMessage;
    // The agent's records fold into one turn, told once the next begins: its time is that of its first.
    const begun = message.role === 'assistant' ? (opened ?? now) : now;
    if (message.role === 'assistant') opened = null;
    turns.push({ ...begun, message });
  });
  for (const { line, place } of lines(bytes, start, () => (broken += 1))) {
    now = { place, at: line.at };
    if (line.kind === 'reset') {
      renderer.close();
      turns.push({ ...now, message: { role: 'system', type: 'reset', content: '' } });
    } else if (line.kind === 'message') {
      renderer.add(line.message, pictures(line.message));
      if (/^(?:reasoning|bot|activity)$/.test(line.message.type)) opened ??= now;
    }
  }
  renderer.close();
  const shown = turns.slice(-most);
  const from = shown.length < turns.length ? (shown[0]?.place ?? start) : start;
  return { turns: shown, from, broken };
}

function* lines(bytes: Buffer, start: number, broken: () => void): Generator<{ line: SessionLine; place: number }> {
  for (let at = 0, end = bytes.indexOf(10); end !== -1; at = end + 1, end = bytes.indexOf(10, at)) {
    const line = readText(bytes.toString('utf8', at, end), { broken });
    if (line) yield { line, place: start + at };
  }
}

/** Images by the name of their file; one that is written into the log itself has none. */
function pictures({ images = [] }: SessionMessage): string[] {
  return images.flatMap((image) => {
    const name = image.data === undefined ? blobName(image) : null;
    return name === null ? [] : [`images/${name}`];
  });
}
