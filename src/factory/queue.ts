/** Someone who asked for a shift. */
export interface Asked {
  by: string;
  since: string;
}

interface Waiting<Result> {
  asked: Asked;
  done: Promise<Result>;
  begin: () => void;
  refuse: (why: Error) => void;
}

/**
 * Lets one shift run at a time, with one place to wait in. Whoever asks while that place is taken joins the one that
 * waits; how often that happened is counted.
 */
export class OnePlaceQueue<Result> {
  readonly #work: (asked: Asked) => Promise<Result>;
  #running: { asked: Asked; done: Promise<Result> } | null = null;
  #waiting: Waiting<Result> | null = null;
  #closed: Error | null = null;
  coalesced = 0;

  constructor(work: (asked: Asked) => Promise<Result>) {
    this.#work = work;
  }

  get running(): Asked | null {
    return this.#running?.asked ?? null;
  }

  get waiting(): Asked | null {
    return this.#waiting?.asked ?? null;
  }

  ask(by: string): { outcome: 'started' | 'queued' | 'joined'; done: Promise<Result> } {
    if (this.#closed) throw this.#closed;
    const asked = { by, since: new Date().toISOString() };
    if (!this.#running) return { outcome: 'started', done: this.#start(asked) };
    if (this.#waiting) {
      this.coalesced += 1;
      return { outcome: 'joined', done: this.#waiting.done };
    }
    let begin = () => {};
    let refuse = (_why: Error) => {};
    const done = new Promise<Result>((resolve, reject) => {
      begin = () => void this.#start(asked).then(resolve, reject);
      refuse = reject;
    });
    this.#waiting = { asked, done, begin, refuse };
    return { outcome: 'queued', done };
  }

  /** Refuses whoever waits, and whoever asks from now on. @returns when the running one has ended. */
  async close(why: Error): Promise<void> {
    this.#closed = why;
    this.#waiting?.refuse(why);
    this.#waiting = null;
    await this.#running?.done.catch(() => {});
  }

  #start(asked: Asked): Promise<Result> {
    const done = this.#work(asked);
    this.#running = { asked, done };
    const next = () => {
      this.#running = null;
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting?.begin();
    };
    done.then(next, next);
    return done;
  }
}
