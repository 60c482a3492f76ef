import { ID_PATTERN } from '../support/ids.ts';
import { type PlacedLine, logPath, readLines } from './log-file.ts';
import type { Room } from './room.ts';

/** A place in a shift's log: what a follower was shown last. */
export interface Place {
  shift: string;
  byte: number;
}

/** `<shift>@<byte>`: the id of a log event. */
export const placeId = ({ shift, byte }: Place) => `${shift}@${byte}`;

/** Reads a place back; null for anything that is not one. */
export function parsePlace(text: string | undefined): Place | null {
  const [shift = '', byte = ''] = (text ?? '').split('@');
  if (!ID_PATTERN.test(shift) || !/^\d{1,15}$/.test(byte)) return null;
  return { shift, byte: Number(byte) };
}

/** What a follower is told. */
export type Live =
  | { type: 'log'; shift: string; lines: PlacedLine[] }
  /** A page looks different now: ask for it again. */
  | { type: 'line'; version: number }
  /** The one shift that was followed has ended and all of its log was told. */
  | { type: 'end'; shift: string }
  /** Nothing, said now and then so that a dead connection is noticed. */
  | { type: 'still' };

/** Silence after which a follower is told that there is nothing. */
const STILL_MS = 15_000;

/**
 * Follows the line from a place on: the log of that shift to its end, then of the shift that is worked next, and so on.
 * With `only` it ends where that shift's log ends; without `log` it tells only that pages changed. Every line is read from disk when its turn comes.
 */
export async function* follow(
  room: Room,
  { from, only, log, signal }: { from: Place | null; only: boolean; log: boolean; signal: AbortSignal },
): AsyncGenerator<Live> {
  const { pulse } = room;
  let place = log ? (from ?? nowhere(room)) : null;
  let version = -1;
  let told = Date.now();
  while (!signal.aborted) {
    const stirs = pulse.stirs;
    if (pulse.version !== version) {
      version = pulse.version;
      told = Date.now();
      yield { type: 'line', version };
    }
    // Asked before the log is read: a shift that has ended by now has written all it will.
    const over = place !== null && (await hasEnded(room, place.shift));
    if (place !== null) {
      const { lines, next } = await readLines(logPath(room.config.data, place.shift), place.byte);
      const moved = next !== place.byte;
      place = { ...place, byte: next };
      if (lines.length > 0) yield { type: 'log', shift: place.shift, lines };
      if (lines.length > 0) told = Date.now();
      if (moved) continue;
      if (over && only) return yield { type: 'end', shift: place.shift };
    }
    const current = log ? currentShift(room) : null;
    if (current !== null && current !== place?.shift && (place === null || over)) {
      place = { shift: current, byte: 0 };
      continue;
    }
    if (Date.now() - told > STILL_MS) {
      told = Date.now();
      yield { type: 'still' };
    }
    await pulse.next(stirs);
  }
}

const currentShift = (room: Room) => room.factory.status().current?.record?.id ?? null;

function nowhere(room: Room): Place | null {
  const shift = currentShift(room);
  return shift === null ? null : { shift, byte: 0 };
}

async function hasEnded(room: Room, shift: string): Promise<boolean> {
  return currentShift(room) !== shift && (await room.book.hasEnded(shift));
}
