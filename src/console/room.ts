import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Config } from '../config/load.ts';
import type { DatasetStore } from '../dataset/store.ts';
import type { FactoryHandle } from '../factory/types.ts';
import type { Change, OfShift } from '../line/change.ts';
import type { SetAside } from '../line/set-aside.ts';
import type { ActLog } from './act-log.ts';
import type { AlarmBook } from './alarms.ts';
import type { GuessLimit } from './guard/limit.ts';
import type { Pulse } from './pulse.ts';
import type { ShiftBook } from './shift-book.ts';

/** One thing that the doctor looked at. */
export interface Examination {
  name: string;
  state: 'ok' | 'warning' | 'broken';
  told: string;
  mend?: string;
}

/** What the console asks of the git side. */
export interface LineDesk {
  setAside(): Promise<SetAside[]>;
  /** Gives a branch back to the line, to be continued by the next shift. */
  release(branch: string): Promise<void>;
  /** Forgets a branch, here and at the origin. */
  drop(branch: string): Promise<void>;
  /** What a shift landed, or what of it waits on its branch; null when nothing of it is here. */
  change(shift: OfShift): Promise<Change | null>;
  /** An object of the git dir by its id. */
  object(id: string): Promise<Buffer | null>;
  /** How one object's text became another's, as a unified diff. */
  difference(before: string, now: string): Promise<string | null>;
  /** A file of the site as main has it, as last fetched; null when it is not there. */
  siteFile(path: string): Promise<Buffer | null>;
}

/** Everything the pages and acts of one console share. */
export interface Room {
  readonly config: Config;
  readonly factory: FactoryHandle;
  readonly token: string;
  /** Bound to loopback: pages need no token. */
  readonly local: boolean;
  readonly book: ShiftBook;
  readonly store: DatasetStore;
  readonly alarms: AlarmBook;
  readonly acts: ActLog;
  readonly pulse: Pulse;
  readonly guesses: GuessLimit;
  /** Whether the outbox is being sent from here. */
  readonly shipping: { busy: boolean };
  readonly line: LineDesk;
  readonly examine: (() => Promise<Examination[]>) | null;
  /** Aborted when the console closes: whoever follows is let go. */
  readonly closing: AbortSignal;
}

/** Who asks: named at sign-in, or the holder of a bearer token. */
export interface Who {
  name: string;
  /** For the record of acts: name and address. */
  by: string;
}

export interface RoomEnv {
  Bindings: HttpBindings;
  Variables: { who: Who | null };
}

export type RoomContext = Context<RoomEnv>;

/** The address a request came from, as the socket tells it; never what a header claims. */
export function addressOf(c: RoomContext): string {
  return c.env?.incoming?.socket?.remoteAddress ?? 'unknown';
}
