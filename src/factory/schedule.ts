import type { Calendar } from './calendar.ts';

/** How long the schedule sleeps at most, so that a clock that was set or a machine that slept is noticed. */
const LONGEST_SLEEP = 30_000;

/**
 * Calls `tick` at each time of a calendar. Late times are made up for by one tick, however many were missed (a suspended
 * machine, a clock set forward). After a clock is set back, a time that has had its tick gets another only when
 * half of the usual gap has truly passed, so nothing fires twice and nothing stalls.
 */
export class Schedule {
  readonly #calendar: Calendar;
  readonly #tick: (at: Date) => void;
  #next: Date | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The last tick: its time by the calendar, when it truly was by a clock that is never set, and the gap to the next. */
  #last: { at: number; steady: number; gap: number } | null = null;

  constructor(calendar: Calendar, tick: (at: Date) => void) {
    this.#calendar = calendar;
    this.#tick = tick;
  }

  /** The next time; null while stopped, or when the calendar has none. */
  get next(): Date | null {
    return this.#next;
  }

  start(): void {
    if (this.#timer) return;
    this.#next = this.#calendar.after(new Date());
    this.#sleep();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = null;
  }

  #sleep(): void {
    const left = this.#next ? this.#next.getTime() - Date.now() : LONGEST_SLEEP;
    this.#timer = setTimeout(() => this.#wake(), Math.min(LONGEST_SLEEP, Math.max(0, left)));
  }

  #wake(): void {
    const now = new Date();
    if (this.#next && now >= this.#next) this.#fire(this.#next, now);
    else this.#next = this.#soonest(now);
    this.#sleep();
  }

  #fire(due: Date, now: Date): void {
    this.#next = this.#calendar.after(now);
    const gap = this.#next ? this.#next.getTime() - due.getTime() : 0;
    this.#last = { at: due.getTime(), steady: performance.now(), gap };
    this.#tick(due);
  }

  /** The next time as the clock stands now; a clock that was set back may have made it an earlier one. */
  #soonest(now: Date): Date | null {
    let next = this.#calendar.after(now);
    const last = this.#last;
    while (next && last && next.getTime() <= last.at) {
      const passed = performance.now() - last.steady + (next.getTime() - now.getTime());
      if (passed >= last.gap / 2) break;
      next = this.#calendar.after(next);
    }
    return next;
  }
}
