import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { shiftFolder } from '../shift/record.ts';

/** One line of a shift's log, as the console tells it. */
export interface LogLine {
  at: string;
  /** pino's level: 20 what the agent does, 30 told, 40 warning, 50 error. */
  level: number;
  station: string;
  text: string;
  /** What kind of thing the agent did. */
  activity?: string;
}

/** A line and the byte after it: the place a follower goes on from. */
export interface PlacedLine {
  line: LogLine;
  end: number;
}

const PIECE = 64 * 1024;
/** A longer line is passed over: nothing the factory logs comes near it. */
const LONGEST = 8 * 1024 * 1024;

export const logPath = (data: string, shift: string) => join(shiftFolder(data, shift), 'log.ndjson');

/** What a line says, or null when it is not one of ours (half-written, foreign). */
export function parseLine(text: string): LogLine | null {
  try {
    const entry = JSON.parse(text) as Record<string, unknown>;
    if (typeof entry !== 'object' || entry === null) return null;
    const error = entry.err as { message?: unknown } | undefined;
    const exchange = exchangeTold(entry.relay);
    const cause = typeof error?.message === 'string' ? `: ${error.message}` : '';
    return {
      at: String(entry.time ?? ''),
      level: exchange ? exchange.level : typeof entry.level === 'number' ? entry.level : 30,
      station: typeof entry.station === 'string' ? entry.station : '',
      text: exchange?.text ?? `${String(entry.msg ?? '')}${cause}`,
      ...(typeof entry.activity === 'string' ? { activity: entry.activity } : {}),
    };
  } catch {
    return null;
  }
}

/** One exchange with the provider, of which there are many: told in a line, and quietly unless it failed. */
function exchangeTold(relay: unknown): { text: string; level: number } | null {
  const { event, status, ms, inputTokens, outputTokens, failure } = (relay ?? {}) as Record<string, unknown>;
  if (event !== 'exchange') return null;
  if (typeof failure === 'string') return { text: `the provider failed: ${failure}`, level: 40 };
  return {
    text: `the provider answered ${status} in ${ms} ms: ${inputTokens} tokens in, ${outputTokens} out`,
    level: 20,
  };
}

/**
 * Reads the whole lines that begin at a byte, at most some 64 KB of them.
 * @returns the lines and the byte to go on from; the same byte when there is nothing whole to read.
 */
export async function readLines(path: string, from: number): Promise<{ lines: PlacedLine[]; next: number }> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return { lines: [], next: from };
  try {
    const { size } = await file.stat();
    // A place beyond the end is of another file: begin anew.
    const start = from > size ? 0 : from;
    return await piece(file, start, size);
  } finally {
    await file.close();
  }
}

async function piece(file: FileHandle, start: number, size: number): Promise<{ lines: PlacedLine[]; next: number }> {
  for (let want = PIECE; ; want *= 2) {
    const length = Math.min(want, size - start);
    if (length <= 0) return { lines: [], next: start };
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await file.read(buffer, 0, length, start);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.lastIndexOf(10) !== -1) return split(bytes, start);
    if (length === size - start) return { lines: [], next: start };
    if (want >= LONGEST) return { lines: [], next: start + bytesRead };
  }
}

function split(bytes: Buffer, start: number): { lines: PlacedLine[]; next: number } {
  const lines: PlacedLine[] = [];
  let at = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, at)) {
    const line = parseLine(bytes.toString('utf8', at, end));
    at = end + 1;
    if (line) lines.push({ line, end: start + at });
  }
  return { lines, next: start + at };
}

/** The last lines of a log, and the byte after them. Reads at most the last 256 KB. */
export async function tailLines(path: string, most: number): Promise<{ lines: PlacedLine[]; next: number }> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return { lines: [], next: 0 };
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - 4 * PIECE);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    const bytes = buffer.subarray(0, bytesRead);
    const first = start === 0 ? 0 : bytes.indexOf(10) + 1;
    const { lines, next } = split(bytes.subarray(first), start + first);
    return { lines: lines.slice(-most), next };
  } finally {
    await file.close();
  }
}
