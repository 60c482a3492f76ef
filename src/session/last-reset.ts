import { openRegular } from './scan.ts';

/** A reset's line is a few dozen bytes; one longer than this is not looked for. */
const LONGEST = 1024;
const CHUNK = 1024 * 1024;
const NEWLINE = 10;

function isReset(line: string): boolean {
  try {
    return (JSON.parse(line) as { kind?: unknown } | null)?.kind === 'reset';
  } catch {
    return false;
  }
}

/** Where the last reset line that lies whole in these bytes ends, its newline included; -1 when there is none. */
function lastIn(bytes: Buffer, first: boolean): number {
  for (let at = bytes.lastIndexOf('"reset"'); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf('"reset"', at - 1)) {
    const [before, end] = [bytes.lastIndexOf(NEWLINE, at), bytes.indexOf(NEWLINE, at)];
    if (end === -1 || (before === -1 && !first)) continue;
    if (end - before <= LONGEST && isReset(bytes.toString('utf8', before + 1, end))) return end + 1;
  }
  return -1;
}

/**
 * Looks backwards for a log's last reset, without reading what is before it. It finds those that are written as zot and
 * the factory write them; one that is spelt otherwise is overlooked, so a reader must expect more after it.
 * @returns the offset of the line after it, in bytes; 0 when none was found.
 */
export async function lastReset(path: string): Promise<number> {
  const file = await openRegular(path);
  try {
    const { size } = await file.stat();
    // Each look begins a byte early, for the newline before, and ends late, for a line that begins at its very end.
    const bytes = Buffer.allocUnsafe(1 + CHUNK + LONGEST);
    for (let to = size; to > 0; to -= CHUNK) {
      const from = Math.max(0, to - CHUNK - 1);
      const { bytesRead } = await file.read(bytes, 0, Math.min(bytes.length, to + LONGEST - from), from);
      const end = lastIn(bytes.subarray(0, bytesRead), from === 0);
      if (end >= 0) return from + end;
    }
    return 0;
  } finally {
    await file.close();
  }
}
