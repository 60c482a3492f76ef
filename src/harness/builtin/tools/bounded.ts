/**
 * Why this exists: one result past the context's size is refused by the provider together with everything before it, and
 * the run can never send it again. So every result is bounded, and says so where it was cut.
 */

const told = (left: number) => `\n\n[… ${left} characters left out …]\n\n`;

/** The beginning and the end of a text, at most `limit` characters of it together, with what was left out said between. */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.ceil(limit / 2);
  const tail = limit - head;
  return text.slice(0, head) + told(text.length - limit) + (tail === 0 ? '' : text.slice(-tail));
}

/** Collects output of any length in bounded memory: the first half of the limit, and the last. */
export class BoundedOutput {
  readonly #half: number;
  #head = '';
  #tail = '';
  #left = 0;

  constructor(limit: number) {
    this.#half = Math.max(1, Math.floor(limit / 2));
  }

  push(text: string): void {
    const room = this.#half - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    this.#tail += text.slice(Math.max(0, room));
    // Cut only now and then: cutting at every small chunk would copy the tail each time.
    if (this.#tail.length > this.#half * 2) this.#trim();
  }

  toString(): string {
    this.#trim();
    return this.#head + (this.#left > 0 ? told(this.#left) : '') + this.#tail;
  }

  #trim(): void {
    const over = this.#tail.length - this.#half;
    if (over <= 0) return;
    this.#left += over;
    this.#tail = this.#tail.slice(over);
  }
}
