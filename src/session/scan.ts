import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A log's longest line, in bytes, without its newline; a longer one is skipped and marks the log truncated. */
export const LONGEST_LINE = 16 * 1024 * 1024;

const CHUNK = 1024 * 1024;
const NEWLINE = 10;
const REGULAR = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function notRegular(path: string): Error {
  return Object.assign(new Error(`not a regular file: ${path}`), { code: 'EINVAL', path });
}

/**
 * Opens a file for reading only if it is a regular file at that very place. The agent can write its own session folder,
 * so a link, a pipe or a device there is not followed, waited for or read.
 */
export async function openRegular(path: string): Promise<FileHandle> {
  const handle = await open(path, REGULAR);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw notRegular(path);
}

/** The same without a pause, for what is small. @returns a descriptor. */
export function openRegularSync(path: string): number {
  const file = openSync(path, REGULAR);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw notRegular(path);
}

/** A stretch of a file in bytes, from its start or `from`, up to its end or `to`. */
export interface Stretch {
  from?: number;
  to?: number;
}

/**
 * Streams a file's lines as bytes, one batch per chunk read, holding no more than a chunk and the longest line.
 * A line is only good until the next batch is asked for: the bytes are views of a buffer that is used again.
 * A line past LONGEST_LINE is given as null.
 */
export async function* scanLines(path: string, stretch: Stretch = {}): AsyncGenerator<(Buffer | null)[]> {
  const { from: start = 0, to = Number.POSITIVE_INFINITY } = stretch;
  const handle = await openRegular(path);
  try {
    // Two chunks by turns: one is read while the lines of the other are worked on.
    let [chunk, other] = [Buffer.allocUnsafeSlow(CHUNK), Buffer.allocUnsafeSlow(CHUNK)];
    let at = start;
    const read = () => handle.read(other, 0, Math.max(0, Math.min(CHUNK, to - at)), at);
    let reading = read();
    let head: Buffer[] = [];
    let held = 0;
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) break;
      at += bytesRead;
      [chunk, other] = [other, chunk];
      reading = read();
      reading.catch(() => {});
      const lines: (Buffer | null)[] = [];
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1 && end < bytesRead; end = chunk.indexOf(NEWLINE, from)) {
        const length = held + end - from;
        const tail = chunk.subarray(from, end);
        lines.push(length > LONGEST_LINE ? null : held === 0 ? tail : Buffer.concat([...head, tail]));
        head = [];
        held = 0;
        from = end + 1;
      }
      held += bytesRead - from;
      // Past the limit only the length is kept, so a line without an end costs no memory.
      if (held > LONGEST_LINE) head = [];
      else if (from < bytesRead) head.push(Buffer.from(chunk.subarray(from, bytesRead)));
      if (lines.length > 0) yield lines;
    }
    if (held > 0) yield [held > LONGEST_LINE ? null : Buffer.concat(head)];
  } finally {
    await handle.close();
  }
}
