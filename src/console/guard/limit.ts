/** Wrong tokens that one address may give in a minute. */
const TRIES = 5;
const WINDOW_MS = 60_000;
/** Addresses remembered at once; past it the oldest is forgotten, so that memory stays flat under a flood. */
const ADDRESSES = 10_000;

/** Slows down whoever guesses tokens: after five wrong ones an address waits out the minute, whatever it gives. */
export class GuessLimit {
  readonly #wrong = new Map<string, number[]>();

  /** Seconds until an address may try again; 0 when it may now. */
  waitOf(address: string, now = Date.now()): number {
    const recent = (this.#wrong.get(address) ?? []).filter((at) => at > now - WINDOW_MS);
    if (recent.length < TRIES) return 0;
    return Math.ceil(((recent[0] as number) + WINDOW_MS - now) / 1000);
  }

  /** Notes a wrong token. */
  wrong(address: string, now = Date.now()): void {
    const recent = (this.#wrong.get(address) ?? []).filter((at) => at > now - WINDOW_MS);
    this.#wrong.delete(address);
    this.#wrong.set(address, [...recent, now].slice(-TRIES));
    const [oldest] = this.#wrong.keys();
    if (this.#wrong.size > ADDRESSES && oldest !== undefined) this.#wrong.delete(oldest);
  }
}
