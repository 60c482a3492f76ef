import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/load.ts';
import { createMetrics } from '../../src/factory/metrics.ts';
import type { FactoryEvent, FactoryStatus } from '../../src/factory/types.ts';
import { type TestFactory, makeFactory } from '../helpers/factory.ts';
import { recordOf } from '../helpers/records.ts';

const AT = '2026-05-04T12:30:00.000Z';
const STATUS: FactoryStatus = {
  pid: 1,
  host: 'here',
  version: '0.1.0',
  startedAt: AT,
  state: 'working',
  paused: null,
  current: { by: 'schedule', since: AT, record: null, activity: null },
  queued: { by: 'schedule', since: AT },
  coalesced: 4,
  nextTick: '2026-05-04T13:00:00.000Z',
};

describe('the metrics', () => {
  let factory: TestFactory;
  let config: Config;
  beforeEach(async () => {
    factory = await makeFactory();
    config = await factory.config({ disk_floor: '2GB' });
    mkdirSync(join(config.data, 'outbox'), { recursive: true });
  });
  afterEach(() => factory.remove());

  const station = (name: string, status: 'ok' | 'failed' | null, durationMs: number): FactoryEvent => {
    const record = recordOf('20260504-120000');
    const at = { name, attempt: 1, status, startedAt: AT, durationMs, summary: '' };
    return { at: AT, type: 'station', shift: record.id, record, station: at };
  };
  const end = (differs: Parameters<typeof recordOf>[1]): FactoryEvent => {
    const record = recordOf('20260504-120000', differs);
    return { at: AT, type: 'end', shift: record.id, record };
  };
  const value = (text: string, line: string) =>
    Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${line} `))
        ?.slice(line.length + 1),
    );

  it('count shifts by verdict, from nought', async () => {
    const metrics = createMetrics(config);
    expect(value(await metrics.text(), 'machinery_shifts_total{verdict="red"}')).toBe(0);
    metrics.observe(end({ verdict: 'red' }));
    metrics.observe(end({ verdict: 'green' }));
    metrics.observe(end({ verdict: 'green' }));
    const text = await metrics.text();
    expect(value(text, 'machinery_shifts_total{verdict="red"}')).toBe(1);
    expect(value(text, 'machinery_shifts_total{verdict="green"}')).toBe(2);
    expect(value(text, 'machinery_last_shift_timestamp_seconds{verdict="green"}')).toBe(Date.parse(AT) / 1000);
    expect(metrics.contentType).toContain('text/plain');
  });

  it('take the time of a station once it has ended', async () => {
    const metrics = createMetrics(config);
    metrics.observe(station('probe', null, 0));
    metrics.observe(station('probe', 'failed', 12_000));
    const text = await metrics.text();
    expect(value(text, 'machinery_station_seconds_count{station="probe",status="failed"}')).toBe(1);
    expect(value(text, 'machinery_station_seconds_sum{station="probe",status="failed"}')).toBe(12);
  });

  it('count findings by rule, tokens and dollars by model', async () => {
    const metrics = createMetrics(config);
    const usage = { requests: 2, inputTokens: 900, outputTokens: 40, dollars: 0.25 };
    metrics.observe(end({ verdict: 'red', findings: { 'css-overflow': 3 }, usage, model: 'a/b' }));
    metrics.observe(end({ verdict: 'red', findings: { 'css-overflow': 1 }, usage, model: 'a/b' }));
    const text = await metrics.text();
    expect(value(text, 'machinery_findings_total{rule="css-overflow"}')).toBe(4);
    expect(value(text, 'machinery_agent_tokens_total{direction="input",model="a/b"}')).toBe(1800);
    expect(value(text, 'machinery_agent_tokens_total{direction="output",model="a/b"}')).toBe(80);
    expect(value(text, 'machinery_agent_dollars_total{model="a/b"}')).toBe(0.5);
  });

  it('tell outbox, disk and queue as they are at the scrape', async () => {
    let status: FactoryStatus = { ...STATUS, queued: null };
    const metrics = createMetrics(config, () => status);
    expect(value(await metrics.text(), 'machinery_outbox_rows')).toBe(0);
    writeFileSync(join(config.data, 'outbox', '20260504-120000'), '');
    status = STATUS;
    const text = await metrics.text();
    expect(value(text, 'machinery_outbox_rows')).toBe(1);
    expect(value(text, 'machinery_disk_floor_bytes')).toBe(2e9);
    expect(value(text, 'machinery_disk_free_bytes')).toBeGreaterThan(0);
    expect(value(text, 'machinery_queue_length')).toBe(1);
    expect(value(text, 'machinery_queue_coalesced')).toBe(4);
    expect(value(text, 'machinery_working')).toBe(1);
    expect(value(text, 'machinery_paused')).toBe(0);
    expect(value(text, 'machinery_next_tick_timestamp_seconds')).toBe(Date.parse('2026-05-04T13:00:00.000Z') / 1000);
  });
});
