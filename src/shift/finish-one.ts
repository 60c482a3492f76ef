import { mkdir, readFile, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/load.ts';
import { DatasetStore } from '../dataset/store.ts';
import type { GateReport } from '../gates/finding.ts';
import type { Line } from '../line/line.ts';
import { chainOf } from '../session/chain.ts';
import { newestSession, openSession } from '../session/read.ts';
import { sweepTemporary } from '../support/files.ts';
import { factoryId } from './factory-id.ts';
import { shiftLog } from './log.ts';
import { openLine } from './open-line.ts';
import { passStations } from './pass-stations.ts';
import { CONTINUES, type ShiftRecord, shiftFolder } from './record.ts';
import { nameChainFolder, sessionFolderOf } from './sessions.ts';
import type { Context, Facts } from './station.ts';
import { exportRow } from './stations/export.ts';
import { report } from './stations/report.ts';
import { ship } from './stations/ship.ts';

/** Finishes one shift whose process died: see finishInterrupted. @returns its record, closed as `interrupted`. */
export async function finish(config: Config, record: ShiftRecord): Promise<ShiftRecord> {
  const { id } = record;
  const folder = shiftFolder(config.data, id);
  const { log, close } = shiftLog(
    folder,
    id,
    config.secrets.map(({ value }) => value),
  );
  try {
    await sweepTemporary(folder);
    log.warn({ worker: record.worker }, 'the process that worked this shift died; finishing what it left');
    const factory = await factoryId(config.data);
    const facts = await rebuild({ config, factory, log }, record, folder).catch((error: unknown) => {
      log.error({ err: error }, 'its work could not be gathered; the next shift tries again');
      return {} as Facts;
    });
    const session = facts.session ?? record.session;
    const chain = session && facts.sessions ? await chainOf(facts.sessions, session) : record.chain;
    const known = { ...record, session, chain, commit: facts.commit ?? record.commit, stations: closed(record) };
    const store = new DatasetStore(join(config.data, 'dataset'));
    const fixed = { id, folder, config, store, factory, signal: new AbortController().signal };
    return await passStations(
      [exportRow, ship, report],
      fixed,
      { record: known, facts: { ...facts, interrupted: true } },
      log,
    );
  } finally {
    await close();
  }
}

/** The station that was at work when the process died has failed by that. */
function closed(record: ShiftRecord): ShiftRecord['stations'] {
  const error = {
    code: 'shift/interrupted',
    message: 'the process died here',
    mend: `Nothing to do: ${CONTINUES}.`,
  };
  return record.stations.map((station) =>
    station.status === null ? { ...station, status: 'failed', summary: error.message, error } : station,
  );
}

/** What the dead process knew, from what it left on disk. */
async function rebuild(
  { config, factory, log }: Pick<Context, 'config' | 'factory' | 'log'>,
  record: ShiftRecord,
  folder: string,
): Promise<Facts> {
  const sessions = await chainFolder(config.data, record);
  const session = sessions ? ((await newestSession(sessions)) ?? null) : null;
  const facts: Facts = { ...(sessions ? { sessions } : {}), session };
  if (!record.branch || !record.base) return facts;

  const line = await openLine({ config, factory });
  const open = await line.current();
  const work = open?.branch === record.branch ? await saved(line, record, session).catch(() => undefined) : undefined;
  await line.fetch().catch((error: unknown) => {
    log.warn({ err: error }, 'the origin could not be asked: what was last known of it counts');
  });
  const commit = (await line.landedAs(record.id)) ?? undefined;
  const settled =
    session && sessions ? (await openSession(join(sessions, `${session}.jsonl`))).result?.reason === 'settled' : false;
  const tree = join(config.data, 'trees', record.id, 'work');
  if (commit) {
    await mkdir(tree, { recursive: true, mode: 0o700 });
    await line.exportTree(commit, tree);
  }
  return {
    ...facts,
    line,
    base: record.base,
    branch: record.branch,
    continued: record.continued,
    finishedBefore: settled,
    machine: record.machine,
    ...(work ? { work } : {}),
    ...(commit ? { commit, tree } : {}),
    ...(await reports(record, folder)),
  };
}

async function saved(line: Line, record: ShiftRecord, session: string | null): Promise<string> {
  const { commit } = await line.snapshot({ shift: record.id, session, continued: record.continued });
  await line.push().catch(() => {}); // kept in line.git; the next shift pushes it
  return commit;
}

/** The folder of the chain this shift worked on: named after the shift while its first session ran, after that session later. */
async function chainFolder(data: string, record: ShiftRecord): Promise<string | null> {
  if (record.session) {
    const known = await sessionFolderOf(data, record.session);
    if (known) return known;
  }
  const fresh = join(data, 'sessions', `open-${record.id}`);
  const first = (await readdir(fresh).catch(() => [])).length > 0 ? await newestSession(fresh) : null;
  if (first) return nameChainFolder(fresh, first);
  // No session was begun in it. One that holds anything all the same stays.
  await rmdir(fresh).catch(() => {});
  return null;
}

/** The gates' reports of the last attempt, where they were reached. */
async function reports(record: ShiftRecord, folder: string): Promise<Partial<Facts>> {
  const last = record.stations.reduce((most, { attempt }) => Math.max(most, attempt), 1);
  const found: Partial<Record<'check' | 'probe' | 'scope', GateReport>> = {};
  for (const gate of ['check', 'probe', 'scope'] as const) {
    const station = record.stations.find(({ name, attempt }) => name === gate && attempt === last);
    if (station?.status !== 'ok' && station?.status !== 'failed') continue;
    const text = await readFile(join(folder, `${gate}.json`), 'utf8').catch(() => null);
    if (text !== null) found[gate] = JSON.parse(text) as GateReport;
  }
  return found;
}
