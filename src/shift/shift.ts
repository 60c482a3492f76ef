import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/load.ts';
import { DatasetStore } from '../dataset/store.ts';
import type { Activity } from '../harness/types.ts';
import { asFactoryError } from '../support/errors.ts';
import { claimFolder } from '../support/ids.ts';
import { factoryId } from './factory-id.ts';
import { shiftLog } from './log.ts';
import { type ShiftRecord, type StationRecord, shiftFolder, writeRecord } from './record.ts';
import type { Context, Facts, Station, StationResult } from './station.ts';
import { check } from './stations/check.ts';
import { exportRow } from './stations/export.ts';
import { land } from './stations/land.ts';
import { open } from './stations/open.ts';
import { probe } from './stations/probe.ts';
import { report } from './stations/report.ts';
import { scope } from './stations/scope.ts';
import { ship } from './stations/ship.ts';
import { staff } from './stations/staff.ts';
import { work } from './stations/work.ts';

/** A shift, in the order it happens. A new station is a file and a line here. */
export const STATIONS: readonly Station[] = [staff, open, work, check, probe, scope, land, exportRow, ship, report];

/** Who follows a shift while it runs. */
export interface Watcher {
  station?(record: ShiftRecord, station: StationRecord): void;
  activity?(activity: Activity): void;
}

export interface ShiftOptions {
  config: Config;
  signal?: AbortSignal;
  watcher?: Watcher;
}

/**
 * Works one shift from staff to report. Never throws for anything a station met: that is in the record it returns.
 * The caller holds the data folder's lock.
 */
export async function workShift({
  config,
  signal = new AbortController().signal,
  watcher = {},
}: ShiftOptions): Promise<ShiftRecord> {
  const startedAt = new Date();
  const id = await claimFolder(join(config.data, 'shifts'), startedAt);
  const folder = shiftFolder(config.data, id);
  const factory = await factoryId(config.data);
  const { log, close } = shiftLog(
    folder,
    id,
    config.secrets.map(({ value }) => value),
  );
  const store = new DatasetStore(join(config.data, 'dataset'));

  let facts: Facts = {};
  let record = newRecord(id, factory, startedAt);
  const onActivity = (activity: Activity) => {
    log.debug({ activity: activity.kind }, activity.text);
    watcher.activity?.(activity);
  };

  let attempt = 1;
  for (let at = 0; at < STATIONS.length; at += 1) {
    const station = STATIONS[at] as Station;
    const begun = begin(station.name, attempt);
    record = { ...record, stations: [...record.stations, begun] };
    await keep(config.data, record, log);
    watcher.station?.(record, begun);

    const stationLog = log.child({ station: station.name, attempt });
    const context = { id, folder, config, store, factory, facts, record, attempt, signal, onActivity, log: stationLog };
    const result = await pass(station, context);

    const ended = end(begun, result);
    facts = { ...facts, ...result.facts };
    record = { ...record, ...result.record, stations: [...record.stations.slice(0, -1), ended] };
    await keep(config.data, record, log);
    tell(stationLog, ended);
    watcher.station?.(record, ended);

    if (result.again !== undefined) {
      facts = { ...facts, findings: result.again };
      at = STATIONS.indexOf(work) - 1;
      attempt += 1;
    }
  }
  await close();
  return record;
}

/** Lets a shift pass one station; whatever the station throws becomes its error. */
async function pass(station: Station, context: Context): Promise<StationResult> {
  try {
    const skipped = station.always ? null : (station.skip?.(context) ?? null);
    return skipped === null ? await station.run(context) : { status: 'skipped', summary: skipped };
  } catch (thrown) {
    const { code, message, mend } = asFactoryError(thrown);
    if (code === 'internal/unexpected') context.log.error({ err: thrown }, 'unexpected error');
    return { status: 'failed', summary: message.split('\n')[0] ?? code, error: { code, message, mend } };
  }
}

/** Writes the record. A disk that fills up in mid-shift must not end it: the work is still worth saving elsewhere. */
async function keep(data: string, record: ShiftRecord, log: Logger): Promise<void> {
  if (record.stations.length === 1) return writeRecord(data, record);
  await writeRecord(data, record).catch((error: unknown) =>
    log.error({ err: error }, 'the record could not be written'),
  );
}

const begin = (name: string, attempt: number): StationRecord => ({
  name,
  attempt,
  status: null,
  startedAt: new Date().toISOString(),
  durationMs: 0,
  summary: '',
});

const end = (begun: StationRecord, result: StationResult): StationRecord => ({
  ...begun,
  status: result.status ?? 'ok',
  durationMs: Date.now() - Date.parse(begun.startedAt),
  summary: result.summary,
  ...(result.error ? { error: result.error } : {}),
});

function tell(log: Logger, { status, summary, durationMs, error }: StationRecord): void {
  if (status === 'failed') log.error({ status, durationMs, error }, summary);
  else log.info({ status, durationMs }, summary);
}

function newRecord(id: string, factory: string, startedAt: Date): ShiftRecord {
  return {
    id,
    factory,
    verdict: null,
    reason: '',
    startedAt: startedAt.toISOString(),
    endedAt: null,
    worker: { pid: process.pid, host: hostname() },
    order: null,
    harness: null,
    harnessVersion: null,
    harnessWhy: null,
    sandbox: null,
    provider: null,
    model: null,
    session: null,
    chain: [],
    outcome: null,
    branch: null,
    continued: 0,
    base: null,
    commit: null,
    machine: null,
    usage: { requests: 0, inputTokens: 0, outputTokens: 0, dollars: null },
    findings: {},
    stations: [],
  };
}
