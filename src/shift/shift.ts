import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/load.ts';
import { DatasetStore } from '../dataset/store.ts';
import { claimFolder } from '../support/ids.ts';
import { layOut } from './data-folder.ts';
import { factoryId } from './factory-id.ts';
import { shiftLog } from './log.ts';
import { type Watcher, passStations } from './pass-stations.ts';
import { type ShiftRecord, shiftFolder } from './record.ts';
import type { Station } from './station.ts';
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
  await layOut(config.data);
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

  const record = newRecord(id, factory, startedAt);
  const fixed = { id, folder, config, store, factory, signal };
  try {
    return await passStations(STATIONS, fixed, { record, facts: {} }, log, watcher);
  } finally {
    await close();
  }
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
