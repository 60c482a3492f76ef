import type { Logger } from 'pino';
import type { Activity } from '../harness/types.ts';
import { asFactoryError } from '../support/errors.ts';
import { type ShiftRecord, type StationRecord, writeRecord } from './record.ts';
import type { Context, Facts, Station, StationResult } from './station.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Who follows a shift while it runs. */
export interface Watcher {
  station?(record: ShiftRecord, station: StationRecord): void;
  activity?(activity: Activity): void;
}

type Fixed = Pick<Context, 'id' | 'folder' | 'config' | 'store' | 'factory' | 'signal'>;

/**
 * Lets a shift pass its stations in order, keeping the record true before and after each. A station that sends the work
 * back makes the shift go on at `work`, as its next attempt.
 */
export async function passStations(
  stations: readonly Station[],
  fixed: Fixed,
  from: { record: ShiftRecord; facts: Facts },
  log: Logger,
  watcher: Watcher = {},
): Promise<ShiftRecord> {
  let { record, facts } = from;
  let attempt = 1;
  const onActivity = (activity: Activity) => {
    log.debug({ activity: activity.kind }, activity.text);
    watcher.activity?.(activity);
  };
  for (let at = 0; at < stations.length; at += 1) {
    const station = stations[at] as Station;
    const begun = begin(station.name, attempt);
    record = { ...record, stations: [...record.stations, begun] };
    await keep(fixed.config.data, record, log);
    watcher.station?.(record, begun);

    const stationLog = log.child({ station: station.name, attempt });
    const result = await pass(station, { ...fixed, facts, record, attempt, onActivity, log: stationLog });

    // What the agent, the provider or the origin said may stand in a result, and the record is shown and sent about.
    const ended = withoutSecrets(fixed.config, end(begun, result));
    facts = { ...facts, ...result.facts };
    const kept = withoutSecrets(fixed.config, result.record ?? {});
    record = { ...record, ...kept, stations: [...record.stations.slice(0, -1), ended] };
    await keep(fixed.config.data, record, log);
    tell(stationLog, ended);
    watcher.station?.(record, ended);

    if (result.again !== undefined) {
      facts = { ...facts, findings: result.again };
      at = stations.findIndex(({ name }) => name === 'work') - 1;
      attempt += 1;
    }
  }
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
