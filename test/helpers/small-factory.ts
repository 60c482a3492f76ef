import { hostname } from 'node:os';
import type { Config } from '../../src/config/load.ts';
import type { FactoryEvent, FactoryHandle, FactoryStatus } from '../../src/factory/types.ts';
import type { ShiftRecord } from '../../src/shift/record.ts';
import { workShift } from '../../src/shift/shift.ts';

/** A factory without a schedule: it works real shifts, one at a time, when it is asked to. */
export interface SmallFactory extends FactoryHandle {
  /** Tells those who listen, as the factory would. */
  tell(event: FactoryEvent): void;
  /** Puts a state in the place of the real one, for pages that are hard to come by. */
  pretend(status: Partial<FactoryStatus>): void;
  asked: string[];
}

export function smallFactory(config: Config, work: typeof workShift = workShift): SmallFactory {
  const listeners = new Set<(event: FactoryEvent) => void>();
  const startedAt = new Date().toISOString();
  const asked: string[] = [];
  let pretended: Partial<FactoryStatus> = {};
  let paused: FactoryStatus['paused'] = null;
  let current: FactoryStatus['current'] = null;
  let running: Promise<ShiftRecord> | null = null;
  let queued: FactoryStatus['queued'] = null;
  let stop = new AbortController();
  const at = () => new Date().toISOString();
  const tell = (event: FactoryEvent) => {
    for (const listener of listeners) listener(event);
  };

  async function begin(by: string): Promise<ShiftRecord> {
    stop = new AbortController();
    current = { by, since: at(), record: null, activity: null };
    tell({ at: at(), type: 'status' });
    const record = await work({
      config,
      signal: stop.signal,
      watcher: {
        station(record, station) {
          if (current) current = { ...current, record };
          tell({ at: at(), type: 'station', shift: record.id, record, station });
        },
        activity(activity) {
          if (current) current = { ...current, activity };
          tell({ at: at(), type: 'activity', shift: current?.record?.id ?? '', activity });
        },
      },
    });
    current = null;
    running = null;
    tell({ at: at(), type: 'end', shift: record.id, record });
    if (queued) {
      const { by: next } = queued;
      queued = null;
      running = begin(next);
    }
    return record;
  }

  return {
    asked,
    tell,
    pretend: (status) => {
      pretended = status;
      tell({ at: at(), type: 'status' });
    },
    status: () => ({
      pid: process.pid,
      host: hostname(),
      version: '0.1.0',
      startedAt,
      state: current ? 'working' : 'waiting',
      paused,
      current,
      queued,
      coalesced: 0,
      nextTick: paused ? null : new Date(Math.ceil(Date.now() / 1_800_000) * 1_800_000).toISOString(),
      ...pretended,
    }),
    request(by) {
      asked.push(by);
      if (running === null) {
        running = begin(by);
        return { outcome: 'started', done: running };
      }
      const outcome = queued ? 'joined' : 'queued';
      queued ??= { by, since: at() };
      return { outcome, done: running };
    },
    stopShift() {
      if (!running) return false;
      stop.abort();
      return true;
    },
    async pause(by) {
      paused = { since: at(), by };
      tell({ at: at(), type: 'status' });
    },
    async resume() {
      paused = null;
      tell({ at: at(), type: 'status' });
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
