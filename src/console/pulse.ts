import type { FactoryHandle } from '../factory/types.ts';

/** How long a follower sleeps when nothing wakes it: log lines that no event goes with are seen this late. */
const LONGEST_MS = 1000;

/**
 * Wakes those who follow the line. They read what is new from disk themselves, so nothing is queued here for anybody and
 * a slow one costs nothing. `lines` counts every stir, `version` those that change a page (all but what the agent says).
 */
export class Pulse {
  stirs = 0;
  version = 0;
  readonly #waiting = new Set<() => void>();
  readonly #quit: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(factory: FactoryHandle) {
    this.#quit = factory.listen((event) => this.beat(event.type !== 'activity'));
  }

  /** Something happened. @param seen whether a page looks different for it. */
  beat(seen = true): void {
    this.stirs += 1;
    if (seen) this.version += 1;
    this.#wake();
  }

  /** Resolves at the next stir after `since`, at once when there was one, after a second in any case. */
  next(since: number): Promise<void> {
    if (this.stirs !== since) return Promise.resolve();
    this.#timer ??= setInterval(() => this.#wake(), LONGEST_MS).unref();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
    if (woken.length === 0 && this.#timer) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  close(): void {
    this.#quit();
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#wake();
  }
}
