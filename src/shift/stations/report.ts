import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, Station, StationResult } from '../station.ts';
import type { StationRecord, Verdict } from '../record.ts';
import { publishLanding } from '../publish.ts';
import { settleBranch } from '../settle-branch.ts';

/** Says how the shift ended, settles what becomes of its branch, and clears the exports it made. */
export const report: Station = {
  name: 'report',
  always: true,
  async run(context) {
    const { config, id, log, record: before } = context;
    const parked = await settleBranch(context).catch((error: unknown) => {
      log.warn({ err: error }, 'the branch could not be settled; the next shift does it');
      return null;
    });
    const published = await publishLanding(context).catch((error: unknown) => {
      log.error({ err: error }, 'what landed could not be published');
      return 'not published';
    });
    await rm(join(config.data, 'trees', id), { recursive: true, force: true });
    const { verdict, reason } = judge(context);
    const record = {
      verdict,
      reason,
      endedAt: new Date().toISOString(),
      ...(parked?.dropped ? { dropped: true } : {}),
      ...(parked?.quarantined ? { quarantined: [...(before.quarantined ?? []), parked.quarantined] } : {}),
    } satisfies StationResult['record'];
    return {
      // The reason stands beside the verdict wherever the record is shown: here it would only be said again.
      summary: [verdict, parked?.told, published].filter(Boolean).join('; '),
      record,
    };
  },
};

function judge({ facts, record, signal }: Context): { verdict: Verdict; reason: string } {
  const last = record.stations.reduce((most, { attempt }) => Math.max(most, attempt), 1);
  // Rework makes up for what an earlier attempt failed; staff and open are always of the first.
  const failed = record.stations.find(
    ({ status, attempt, name }) => status === 'failed' && (attempt === last || name === 'staff' || name === 'open'),
  );
  if (facts.interrupted)
    return { verdict: 'interrupted', reason: 'the process died; what it left was finished at the next start' };
  if (facts.idle && !failed) return { verdict: 'idle', reason: facts.idle };
  if (signal.aborted && !facts.commit)
    return { verdict: 'interrupted', reason: 'the shift was stopped; its work is kept for the next one' };
  if (failed)
    return { verdict: 'red', reason: `${failed.name}: ${firstLine(failed)}${reworkOf(failed, record.stations)}` };
  if (facts.commit) return { verdict: 'green', reason: `${facts.machine} landed` };
  return { verdict: 'red', reason: 'nothing landed' };
}

const firstLine = ({ error, summary }: StationRecord) => error?.message.split('\n')[0] ?? summary;

/** What the agent was sent back for when it is the agent that failed then: the verdict is about that as much. */
function reworkOf({ name, attempt }: StationRecord, stations: readonly StationRecord[]): string {
  const gate = stations.findLast((one) => one.attempt === attempt - 1 && one.status === 'failed');
  return name === 'work' && gate ? `; it was to mend what ${gate.name} found: ${firstLine(gate)}` : '';
}
