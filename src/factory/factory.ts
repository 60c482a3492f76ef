import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Config } from '../config/load.ts';
import type { Activity } from '../harness/types.ts';
import { finishInterrupted } from '../shift/finish.ts';
import type { ShiftRecord } from '../shift/record.ts';
import type { workShift } from '../shift/shift.ts';
import { FactoryError } from '../support/errors.ts';
import { type Lock, lock } from '../support/lock.ts';
import { packageVersion } from '../support/self.ts';
import { calendar } from './calendar.ts';
import { type Paused, readPause, writePause } from './pause.ts';
import { type Asked, OnePlaceQueue } from './queue.ts';
import { Schedule } from './schedule.ts';
import type { FactoryEvent, FactoryHandle, FactoryStatus } from './types.ts';

/** What a factory is given; the defaults are the real things. */
export interface FactoryOptions {
  config: Config;
  log: Logger;
  /** Works one shift. */
  work?: typeof workShift;
  /** Called between shifts, while nothing runs. */
  between?: () => Promise<void>;
}

type Told = FactoryEvent extends infer Event ? (Event extends { at: string } ? Omit<Event, 'at'> : never) : never;

const stopping = () =>
  new FactoryError('factory/stopping', {
    message: 'the factory is stopping and takes no more shifts',
    mend: 'Ask again when it runs: machinery start.',
  });

/** The long run: the schedule, the one place to wait in, and the shift that is worked. start() and stop() may be called twice. */
export class Factory implements FactoryHandle {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #options: FactoryOptions;
  readonly #schedule: Schedule;
  readonly #queue: OnePlaceQueue<ShiftRecord>;
  readonly #listeners = new Set<(event: FactoryEvent) => void>();
  readonly #startedAt = new Date().toISOString();
  #lock: Lock | null = null;
  #paused: Paused | null = null;
  #current: { record: ShiftRecord | null; activity: Activity | null; stop: AbortController } | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;

  /** @throws FactoryError `config/invalid` for a schedule or a time zone that is not one. */
  constructor(options: FactoryOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#log = options.log;
    this.#schedule = new Schedule(calendar(this.#config.schedule, this.#config.timezone), () => void this.#tick());
    this.#queue = new OnePlaceQueue((asked) => this.#work(asked));
  }

  /** Locks the data folder, finishes what a dead predecessor left, and begins to keep the schedule. @throws FactoryError `lock/held`. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    this.#lock = await lock(this.#config.data);
    for (const { id } of await finishInterrupted(this.#config))
      this.#log.warn({ shift: id }, 'finished a shift whose process died');
    this.#paused = await readPause(this.#config.data);
    if (this.#paused) this.#log.warn(this.#paused, 'the schedule is paused');
    else this.#schedule.start();
    this.#tell({ type: 'status' });
  }

  /** Ends taking shifts, brings the running one to a safe end, and lets go of the data folder. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#schedule.stop();
    this.#tell({ type: 'status' });
    this.#current?.stop.abort();
    await this.#queue.close(stopping());
    await this.#lock?.release();
    this.#lock = null;
  }

  status(): FactoryStatus {
    const { running, waiting, coalesced } = this.#queue;
    const { record = null, activity = null } = this.#current ?? {};
    return {
      pid: process.pid,
      host: hostname(),
      version: packageVersion(),
      startedAt: this.#startedAt,
      state: this.#stopping ? 'stopping' : running ? 'working' : 'waiting',
      paused: this.#paused,
      current: running && { ...running, record, activity },
      queued: waiting,
      coalesced,
      nextTick: this.#schedule.next?.toISOString() ?? null,
    };
  }

  request(by: string): { outcome: 'started' | 'queued' | 'joined'; done: Promise<ShiftRecord> } {
    const asked = this.#queue.ask(by);
    this.#log.info({ by, outcome: asked.outcome }, 'a shift was asked for');
    this.#tell({ type: 'status' });
    return asked;
  }

  stopShift(by: string): boolean {
    if (!this.#current) return false;
    this.#log.warn({ by }, 'the running shift is stopped');
    this.#current.stop.abort();
    return true;
  }

  async pause(by: string): Promise<void> {
    this.#paused ??= { since: new Date().toISOString(), by };
    await writePause(this.#config.data, this.#paused);
    this.#schedule.stop();
    this.#log.warn({ by }, 'the schedule is paused');
    this.#tell({ type: 'status' });
  }

  async resume(by: string): Promise<void> {
    await writePause(this.#config.data, null);
    this.#paused = null;
    if (!this.#stopping) this.#schedule.start();
    this.#log.info({ by }, 'the schedule goes on');
    this.#tell({ type: 'status' });
  }

  listen(listener: (event: FactoryEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tick(): void {
    this.request('schedule').done.catch((error: unknown) =>
      this.#log.error({ err: error }, 'a shift could not be worked'),
    );
  }

  async #work(asked: Asked): Promise<ShiftRecord> {
    const stop = new AbortController();
    const current = { record: null as ShiftRecord | null, activity: null as Activity | null, stop };
    this.#current = current;
    try {
      const work = this.#options.work ?? (await import('../shift/shift.ts')).workShift;
      const record = await work({
        config: this.#config,
        signal: stop.signal,
        watcher: {
          station: (record, station) => {
            current.record = record;
            this.#tell({ type: 'station', shift: record.id, record, station });
          },
          activity: (activity) => {
            current.activity = activity;
            if (current.record) this.#tell({ type: 'activity', shift: current.record.id, activity });
          },
        },
      });
      const told = { shift: record.id, verdict: record.verdict, by: asked.by };
      if (record.verdict === 'red') this.#log.error(told, record.reason);
      else this.#log.info(told, record.reason);
      this.#tell({ type: 'end', shift: record.id, record });
      if (!this.#stopping)
        await this.#options
          .between?.()
          .catch((error: unknown) => this.#log.warn({ err: error }, 'housekeeping failed'));
      return record;
    } finally {
      this.#current = null;
      queueMicrotask(() => this.#tell({ type: 'status' }));
    }
  }

  #tell(told: Told): void {
    const event = { at: new Date().toISOString(), ...told } as FactoryEvent;
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#log.error({ err: error }, 'a listener failed');
      }
    }
  }
}
