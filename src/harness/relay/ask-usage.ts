import { Transform, type TransformCallback } from 'node:stream';

/** What is added to a streaming request, as the last member of its object. */
const ASK = ',"stream_options":{"include_usage":true}';

/** By how many bytes a request grows on its way, whether it is asked for usage or not (then by spaces). */
export const GROWTH = ASK.length;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Passes a JSON request on and asks for usage where it streams and does not ask itself: only the names of the outermost
 * object are looked at, byte by byte, so that a request of many megabytes is neither held nor parsed. Every request
 * grows by exactly GROWTH bytes, so its length can be told in advance; a body that is no object gets spaces behind it.
 */
export class AskUsage extends Transform {
  #depth = 0;
  #inString = false;
  /** Whether an odd number of backslashes ended the last chunk inside a string. */
  #escaped = false;
  #expectName = false;
  #name = '';
  #value = '';
  #streams = false;
  #asks = false;
  #done = false;
  /** Where the outermost object ends in this chunk. */
  #end = -1;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let at = 0;
    while (at < chunk.length && !this.#done) {
      at = this.#inString ? this.#passString(chunk, at) : this.#passByte(chunk, at);
    }
    if (this.#done && at > 0 && this.#end === at - 1) {
      this.push(chunk.subarray(0, at - 1));
      this.push(this.#streams && !this.#asks ? ASK : ' '.repeat(GROWTH));
      this.#end = -1;
      done(null, chunk.subarray(at - 1));
    } else done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#done ? undefined : ' '.repeat(GROWTH));
  }

  /** Goes to the end of a string, or of the chunk. */
  #passString(chunk: Buffer, from: number): number {
    for (let search = from; ; ) {
      const quote = chunk.indexOf(QUOTE, search);
      const stop = quote === -1 ? chunk.length : quote;
      let slash = stop;
      while (slash > from && chunk[slash - 1] === BACKSLASH) slash -= 1;
      const carried = slash === from && this.#escaped ? 1 : 0;
      const odd = (stop - slash + carried) % 2 === 1;
      if (quote !== -1 && odd) {
        search = quote + 1;
        if (search === chunk.length) {
          this.#keepName(chunk, from, search);
          this.#escaped = false;
          return search;
        }
        continue;
      }
      this.#keepName(chunk, from, stop);
      if (quote === -1) {
        this.#escaped = odd;
        return chunk.length;
      }
      this.#escaped = false;
      this.#inString = false;
      return quote + 1;
    }
  }

  #keepName(chunk: Buffer, from: number, to: number): void {
    if (this.#depth === 1 && this.#expectName && this.#name.length < 64) {
      this.#name += chunk.toString('latin1', from, Math.min(to, from + 64));
    }
  }

  #passByte(chunk: Buffer, at: number): number {
    const char = String.fromCharCode(chunk[at] as number);
    if (char === '"') this.#inString = true;
    else if (char === '{' || char === '[') this.#open(char);
    else if (char === '}' || char === ']') this.#close(at);
    else if (this.#depth === 1 && char === ':') this.#expectName = false;
    else if (this.#depth === 1 && char === ',') this.#member();
    else if (this.#depth === 1 && !this.#expectName && this.#value.length < 8) this.#value += char;
    return at + 1;
  }

  #open(char: string): void {
    this.#depth += 1;
    if (this.#depth === 1 && char === '{') this.#expectName = true;
  }

  #close(at: number): void {
    if (this.#depth === 1) {
      this.#member();
      this.#done = true;
      this.#end = at;
    }
    this.#depth -= 1;
  }

  /** A member of the outermost object is complete. */
  #member(): void {
    if (this.#name === 'stream' && this.#value.trim() === 'true') this.#streams = true;
    if (this.#name === 'stream_options') this.#asks = true;
    this.#name = '';
    this.#value = '';
    this.#expectName = true;
  }
}
