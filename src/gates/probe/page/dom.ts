/**
 * The little of the DOM that the in-page code uses. The project compiles without lib.dom, because the functions in
 * this folder are the only ones that ever run in a browser: they are sent there as text.
 */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
  width: number;
  height: number;
}

export interface El {
  tagName: string;
  id: string;
  type?: string;
  name?: string;
  form?: unknown;
  open?: boolean;
  disabled?: boolean;
  tabIndex?: number;
  textContent: string | null;
  parentElement: El | null;
  children: ArrayLike<El>;
  getAttribute(name: string): string | null;
  getBoundingClientRect(): Box;
  getClientRects(): ArrayLike<Box>;
  checkVisibility(options: Record<string, boolean>): boolean;
  contains(other: El | null): boolean;
  querySelector(selector: string): El | null;
  querySelectorAll(selector: string): ArrayLike<El>;
  scrollIntoView(options: Record<string, string>): void;
  focus(): void;
  show(): void;
  showModal(): void;
  close(): void;
  matches(selector: string): boolean;
}

interface Animation {
  effect: { getComputedTiming(): { endTime: unknown } } | null;
  currentTime: unknown;
  finish(): void;
  pause(): void;
  play(): void;
}

interface Doc {
  documentElement: El & { scrollWidth: number; clientWidth: number };
  body: El | null;
  activeElement: El | null;
  readyState: string;
  querySelector(selector: string): El | null;
  querySelectorAll(selector: string): ArrayLike<El>;
  elementFromPoint(x: number, y: number): El | null;
  addEventListener(type: string, listener: (event: { target: El }) => void, capture: boolean): void;
  getAnimations(): Animation[];
}

type Callback = (...given: unknown[]) => unknown;

/** The page's global object, with what is read or replaced there. */
export interface Win {
  document: Doc;
  innerWidth: number;
  innerHeight: number;
  machine?: unknown;
  console: Record<string, unknown>;
  performance: { now(): number };
  Math: typeof Math;
  Date: DateConstructor;
  Event: { prototype: object };
  requestAnimationFrame(callback: Callback): number;
  cancelAnimationFrame(id: number): void;
  requestIdleCallback(callback: Callback): number;
  cancelIdleCallback(id: number): void;
  setTimeout(callback: unknown, delay?: number, ...given: unknown[]): number;
  setInterval(callback: unknown, delay?: number, ...given: unknown[]): number;
  clearTimeout(id?: number): void;
  clearInterval(id?: number): void;
  addEventListener(
    type: string,
    listener: (event: { stopImmediatePropagation(): void }) => void,
    capture: boolean,
  ): void;
  reportError(error: unknown): void;
  getComputedStyle(element: El): Record<string, string>;
  [key: string]: unknown;
}

/** What the in-page code hangs on the page, under a key nobody can guess: see clock.ts, simulation.ts and panel.ts. */
export interface Kit {
  /** Lets `ms` of the page's own time pass: timers and animation frames run in order, in this one call. */
  advance(ms: number): void;
  /** Moves the page's clocks without running anything. */
  jump(ms: number): void;
  /** Resolves after the next frame the browser paints; the page's held time does not matter to it. */
  painted(): Promise<void>;
  [name: string]: unknown;
}
