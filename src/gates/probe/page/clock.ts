import type { Kit, Win } from './dom.ts';

/**
 * Runs in the page, before its own scripts: takes hold of its time. Timers, animation frames, the clocks and
 * Math.random answer to `advance` alone, so that no frame of the page's animation loop can come between two steps of
 * a test and the same machine always gives the same findings.
 */
export function holdTime(key: string): void {
  const win = globalThis as unknown as Win;
  const NativeDate = win.Date;
  const NativePromise = Promise;
  const nativeFrame = win.requestAnimationFrame.bind(win);
  const report = win.reportError.bind(win);
  const define = Object.defineProperty;
  const { max, floor, imul } = Math;
  const apply = Reflect.apply;
  const construct = Reflect.construct;
  const indirectEval = win.eval as (code: string) => unknown;
  const FRAME = 1000 / 60;
  /** Callbacks in one call of advance: a page that starts timers without end is stopped here. */
  const MOST = 20_000;
  const EPOCH = 1_750_000_000_000;

  interface Timer {
    id: number;
    at: number;
    every: number | null;
    callback: unknown;
    given: unknown[];
  }
  let now = 0;
  let ids = 0;
  let timers: Timer[] = [];
  let frames: { id: number; callback: unknown }[] = [];
  let lastFrame = 0;

  function call(callback: unknown, given: unknown[]): void {
    try {
      if (typeof callback === 'function') apply(callback, win, given);
      else if (typeof callback === 'string') indirectEval(callback);
    } catch (error) {
      report(error);
    }
  }

  function add(callback: unknown, delay: unknown, every: boolean, given: unknown[]): number {
    const wait = max(Number(delay) || 1, 1);
    ids += 1;
    // An interval of nothing would never let the clock move on; browsers allow four milliseconds at the least.
    const period = every ? max(wait, 4) : null;
    timers[timers.length] = { id: ids, at: now + wait, every: period, callback, given };
    return ids;
  }

  function remove(id: unknown): void {
    const kept: Timer[] = [];
    for (let n = 0; n < timers.length; n += 1) {
      const timer = timers[n] as Timer;
      if (timer.id !== id) kept[kept.length] = timer;
    }
    timers = kept;
  }

  function earliest(): Timer | null {
    let found: Timer | null = null;
    for (let n = 0; n < timers.length; n += 1) {
      const timer = timers[n] as Timer;
      if (found === null || timer.at < found.at) found = timer;
    }
    return found;
  }

  function runFrame(): void {
    const due = frames;
    frames = [];
    lastFrame = now;
    for (let n = 0; n < due.length; n += 1) call(due[n]?.callback, [now]);
  }

  function advance(ms: number): void {
    const until = now + ms;
    for (let count = 0; count < MOST; count += 1) {
      const timer = earliest();
      const frameAt = frames.length > 0 ? max(now, lastFrame + FRAME) : Number.POSITIVE_INFINITY;
      const next = timer !== null && timer.at <= frameAt ? timer.at : frameAt;
      if (next > until) break;
      if (next > now) now = next;
      if (timer !== null && timer.at <= frameAt) {
        if (timer.every === null) remove(timer.id);
        else timer.at = now + timer.every;
        call(timer.callback, timer.given);
      } else runFrame();
    }
    now = until;
  }

  function Held(this: unknown, ...given: unknown[]): unknown {
    if (!new.target) return new NativeDate(EPOCH + now).toString();
    return construct(NativeDate, given.length > 0 ? given : [EPOCH + now], new.target);
  }
  Held.prototype = NativeDate.prototype;
  Held.now = () => floor(EPOCH + now);
  Held.parse = NativeDate.parse;
  Held.UTC = NativeDate.UTC;
  define(NativeDate.prototype, 'constructor', { value: Held, writable: true, configurable: true });
  win.Date = Held as unknown as DateConstructor;
  define(win.performance, 'now', { value: () => now, writable: true, configurable: true });
  define(win.Event.prototype, 'timeStamp', { get: () => now, configurable: true });

  let seed = 0x9e3779b9;
  win.Math.random = () => {
    // mulberry32: small, and good enough for a page's dust and flicker.
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  win.setTimeout = (callback, delay, ...given) => add(callback, delay, false, given);
  win.setInterval = (callback, delay, ...given) => add(callback, delay, true, given);
  win.clearTimeout = remove;
  win.clearInterval = remove;
  win.requestIdleCallback = (callback) =>
    add(() => callback({ didTimeout: false, timeRemaining: () => 10 }), 1, false, []);
  win.cancelIdleCallback = remove;
  win.requestAnimationFrame = (callback) => {
    ids += 1;
    frames[frames.length] = { id: ids, callback };
    return ids;
  };
  win.cancelAnimationFrame = (id) => {
    for (let n = 0; n < frames.length; n += 1)
      if (frames[n]?.id === id) (frames[n] as { callback: unknown }).callback = null;
  };

  // A flood of messages would fill the pipe to the browser: what comes after the first two hundred is not sent.
  const methods = ['log', 'info', 'debug', 'warn', 'error', 'table', 'trace', 'dir', 'group', 'assert', 'count'];
  for (let n = 0, sent = 0; n < methods.length; n += 1) {
    const native = win.console[methods[n] as string];
    if (typeof native !== 'function') continue;
    win.console[methods[n] as string] = (...given: unknown[]) => {
      sent += 1;
      if (sent <= 200) apply(native, win.console, given);
    };
  }

  const kit: Kit = {
    advance,
    jump: (ms) => {
      now += ms;
    },
    painted: () => new NativePromise((done) => nativeFrame(() => nativeFrame(() => done()))),
  };
  define(globalThis, key, { value: kit });
}
