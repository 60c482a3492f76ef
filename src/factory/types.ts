import type { Activity } from '../harness/types.ts';
import type { ShiftRecord, StationRecord } from '../shift/record.ts';

/** What the factory is doing now, as the control room and `machinery status` tell it. */
export interface FactoryStatus {
  pid: number;
  host: string;
  version: string;
  startedAt: string;
  state: 'waiting' | 'working' | 'stopping';
  /** Whether the schedule is paused, since when and by whom; kept over a restart. */
  paused: { since: string; by: string } | null;
  /** The shift that is being worked. `record` is null in the moment before its first station. */
  current: { by: string; since: string; record: ShiftRecord | null; activity: Activity | null } | null;
  /** The one place of the queue. */
  queued: { by: string; since: string } | null;
  /** Ticks and requests that found the one place taken, since the start. */
  coalesced: number;
  /** The next time of the schedule; null while it is paused. */
  nextTick: string | null;
}

/** What the factory tells those who follow it. `at` is RFC 3339. */
export type FactoryEvent = { at: string } & (
  | { type: 'station'; shift: string; record: ShiftRecord; station: StationRecord }
  | { type: 'activity'; shift: string; activity: Activity }
  | { type: 'end'; shift: string; record: ShiftRecord }
  /** status() has changed in another way: paused, queued, stopping… */
  | { type: 'status' }
);

/** The factory as others may use it: the control room, the socket. `by` says who asked, for the log. */
export interface FactoryHandle {
  status(): FactoryStatus;
  /** Asks for a shift. It starts at once, waits in the one place, or joins the one that waits there. Resolves when it ended. */
  request(by: string): { outcome: 'started' | 'queued' | 'joined'; done: Promise<ShiftRecord> };
  /** Stops the running shift; its work is kept. @returns whether one was running. */
  stopShift(by: string): boolean;
  pause(by: string): Promise<void>;
  resume(by: string): Promise<void>;
  /** @returns a function that ends the listening. */
  listen(listener: (event: FactoryEvent) => void): () => void;
}
