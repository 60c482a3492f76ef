import { statfs } from 'node:fs/promises';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Config } from '../config/load.ts';
import { Outbox } from '../dataset/outbox.ts';
import { Quarantine } from '../dataset/quarantine.ts';
import { VERDICTS } from '../shift/record.ts';
import { packageVersion } from '../support/self.ts';
import type { FactoryEvent, FactoryStatus } from './types.ts';

export interface Metrics {
  /** Counts what an event tells. */
  observe(event: FactoryEvent): void;
  /** Everything in the text format of Prometheus. Counters begin at the process's start. */
  text(): Promise<string>;
  contentType: string;
}

/** Seconds; a shift's stations take from a moment to its whole time limit. */
const STATION_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200];

/**
 * What a monitoring system may want to know (docs/operating.md lists the names).
 * @param status what the factory is doing, asked at every scrape; absent where there is no factory.
 */
export function createMetrics(config: Config, status?: () => FactoryStatus): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, read: () => Promise<number> | number) =>
    new Gauge({
      name: `machinery_${name}`,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });

  const shifts = new Counter({
    name: 'machinery_shifts_total',
    help: 'Shifts that ended, by verdict',
    labelNames: ['verdict'],
    registers,
  });
  for (const verdict of VERDICTS) shifts.inc({ verdict }, 0);
  const stations = new Histogram({
    name: 'machinery_station_seconds',
    help: 'Time at a station, by station and how it ended',
    labelNames: ['station', 'status'],
    buckets: STATION_BUCKETS,
    registers,
  });
  const findings = new Counter({
    name: 'machinery_findings_total',
    help: "Findings of the gates' last run in each shift, by rule",
    labelNames: ['rule'],
    registers,
  });
  const tokens = new Counter({
    name: 'machinery_agent_tokens_total',
    help: 'Tokens that agents used, as the relay counted',
    labelNames: ['direction', 'model'],
    registers,
  });
  const dollars = new Counter({
    name: 'machinery_agent_dollars_total',
    help: 'What agents cost, where the provider says',
    labelNames: ['model'],
    registers,
  });
  const last = new Gauge({
    name: 'machinery_last_shift_timestamp_seconds',
    help: 'When a shift last ended so, by verdict',
    labelNames: ['verdict'],
    registers,
  });
  new Gauge({ name: 'machinery_info', help: 'The version', labelNames: ['version'], registers }).set(
    { version: packageVersion() },
    1,
  );

  gauge('outbox_rows', 'Rows that wait for the hub', async () => (await new Outbox(config.data).ids()).length);
  gauge('quarantine_rows', 'Rows kept back for what may be a secret', async () => {
    return (await new Quarantine(config.data).list()).length;
  });
  gauge('disk_free_bytes', 'Free space of the data folder', async () => {
    const { bavail, bsize } = await statfs(config.data);
    return bavail * bsize;
  });
  gauge('disk_floor_bytes', 'Free space under which no shift starts', () => config.disk_floor);
  if (status) {
    gauge('working', 'Whether a shift is worked now', () => (status().current ? 1 : 0));
    gauge('queue_length', 'Shifts that wait in the one place', () => (status().queued ? 1 : 0));
    gauge('queue_coalesced', 'Ticks and requests that found the place taken', () => status().coalesced);
    gauge('paused', 'Whether the schedule is paused', () => (status().paused ? 1 : 0));
    gauge('next_tick_timestamp_seconds', 'The next time of the schedule; 0 while it is paused', () => {
      return (Date.parse(status().nextTick ?? '') || 0) / 1000;
    });
  }

  return {
    observe(event) {
      if (event.type === 'station' && event.station.status !== null) {
        const { name, status: ended, durationMs } = event.station;
        stations.observe({ station: name, status: ended }, durationMs / 1000);
      }
      if (event.type !== 'end') return;
      const { verdict, model, usage } = event.record;
      shifts.inc({ verdict: verdict ?? 'interrupted' });
      last.set({ verdict: verdict ?? 'interrupted' }, Date.parse(event.at) / 1000);
      for (const [rule, count] of Object.entries(event.record.findings)) findings.inc({ rule }, count);
      if (model === null) return;
      tokens.inc({ direction: 'input', model }, usage.inputTokens);
      tokens.inc({ direction: 'output', model }, usage.outputTokens);
      if (usage.dollars !== null) dollars.inc({ model }, usage.dollars);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
