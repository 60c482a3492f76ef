import { FactoryError } from '../support/errors.ts';

/** How many arrays are opened before a key's value is handed out: messages one by one, and those of each snapshot too. */
const LEVELS = new Map([
  ['messages', 1],
  ['snapshots', 2],
]);

const [QUOTE, BACKSLASH, COMMA, COLON, NEWLINE] = [34, 92, 44, 58, 10];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** A piece of a row: a key's whole value, one message, or one message of the snapshot with that number (from 0). */
export interface Piece {
  key: string;
  /** JSON text. */
  value: Buffer;
  snapshot?: number;
  /** Set when the key's list of messages holds none; `value` is that list. */
  empty?: true;
}

/**
 * Cuts a row's JSON into pieces as its bytes come, because a row can be larger than a string may be. It only finds where
 * values begin and end; what is in them is for JSON.parse to judge.
 */
export class Splitter {
  /** Bytes after the row's closing brace, a newline not counted. */
  trailing = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #key: string | null = null;
  #levels = 0;
  #snapshot = -1;
  #handed = false;
  /** Where the current value began: in this chunk, or before it (0 with bytes held). */
  #from = -1;
  #held: Buffer[] = [];

  /** Whether the row's closing brace was seen. */
  done = false;

  feed(chunk: Buffer): Piece[] {
    const pieces: Piece[] = [];
    if (this.#held.length > 0) this.#from = 0;
    for (let i = 0; i < chunk.length; i += 1) {
      if (this.#inString) {
        i = this.#endOfString(chunk, i);
        if (i < 0) break;
        this.#inString = false;
        if (this.#depth === 1 && this.#key === null)
          this.#key = JSON.parse(this.#take(chunk, i + 1).toString()) as string;
        continue;
      }
      this.#step(chunk, i, pieces);
    }
    if (this.#from >= 0) this.#held.push(Buffer.from(chunk.subarray(this.#from)));
    this.#from = -1;
    return pieces;
  }

  #step(chunk: Buffer, i: number, pieces: Piece[]): void {
    const byte = chunk[i] as number;
    if (byte === NEWLINE && !this.done) throw invalid('it is not on one line');
    if (byte <= 32) return;
    if (this.done) {
      this.trailing += 1;
      return;
    }
    const at = this.#depth;
    const floor = 1 + this.#levels;
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (at === floor && this.#key !== null) this.#hand(chunk, i, pieces);
      this.#depth -= 1;
      // The end of a list of pieces is the end of its key's value only when it was the outermost one.
      if (this.#depth === 1 && this.#levels > 0) {
        if (!this.#handed) pieces.push({ key: this.#key as string, value: Buffer.from('[]'), empty: true });
        this.#levels = -1;
      }
      if (this.#depth === 0) this.done = true;
      return;
    }
    if (byte === COMMA) {
      if (at === floor && this.#key !== null) this.#hand(chunk, i, pieces);
      if (at === 1) this.#next();
      return;
    }
    if (byte === COLON && at === 1) {
      this.#levels = LEVELS.get(this.#key ?? '') ?? 0;
      return;
    }
    if (at === 0 && byte !== OPEN_OBJECT) throw invalid('it is not a JSON object');
    if (at < floor && this.#key !== null && byte !== OPEN_LIST) throw invalid(`\`${this.#key}\` is not a list`);
    // A value, or a key, begins where it is handed out from.
    if (at === floor && this.#from < 0) this.#from = i;
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      this.#depth += 1;
      if (at === 2 && this.#levels === 2) this.#snapshot += 1;
    }
  }

  /** @returns the index of the closing quote, or -1 when it is not in this chunk. */
  #endOfString(chunk: Buffer, from: number): number {
    for (let at = from; ; ) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? chunk.length : quote;
      let slashes = 0;
      while (end - slashes > from && chunk[end - slashes - 1] === BACKSLASH) slashes += 1;
      // A backslash that ended the last chunk escapes the first byte of this one.
      if (end - slashes === from && this.#escaped) slashes += 1;
      const escaped = slashes % 2 === 1;
      if (quote === -1) {
        this.#escaped = escaped;
        return -1;
      }
      if (!escaped) {
        this.#escaped = false;
        return quote;
      }
      at = quote + 1;
    }
  }

  #take(chunk: Buffer, to: number): Buffer {
    const tail = chunk.subarray(Math.max(this.#from, 0), to);
    const whole = this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
    this.#held = [];
    this.#from = -1;
    return whole;
  }

  #hand(chunk: Buffer, to: number, pieces: Piece[]): void {
    if (this.#from < 0 && this.#held.length === 0) return;
    this.#handed = true;
    const piece = { key: this.#key as string, value: this.#take(chunk, to) };
    pieces.push(this.#levels === 2 ? { ...piece, snapshot: this.#snapshot } : piece);
  }

  #next(): void {
    this.#key = null;
    this.#levels = 0;
    this.#handed = false;
  }
}

/** The error for a row that is not one. */
export function invalid(what: string): FactoryError {
  return new FactoryError('row/invalid', {
    message: `the row cannot be read: ${what}`,
    mend: 'Run `machinery rows validate` to see all that is wrong; export the session again if its log is still there.',
  });
}
