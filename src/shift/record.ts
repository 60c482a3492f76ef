import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileDurable } from '../support/files.ts';
import { ID_PATTERN } from '../support/ids.ts';

/** A shift's record, `shifts/<id>/shift.json`: written before and after every station, so that it is true whenever read. */

export const VERDICTS = ['green', 'red', 'idle', 'interrupted'] as const;
export type Verdict = (typeof VERDICTS)[number];

const trouble = z.object({ code: z.string(), message: z.string(), mend: z.string() });

export const stationRecord = z.object({
  name: z.string(),
  /** Counts from 1; rework runs work, check, probe and scope again. */
  attempt: z.int(),
  /** null while it runs. */
  status: z.enum(['ok', 'failed', 'skipped']).nullable(),
  startedAt: z.string(),
  durationMs: z.number(),
  summary: z.string(),
  error: trouble.optional(),
});

export const shiftRecord = z.object({
  id: z.string(),
  factory: z.string(),
  /** null while it runs. */
  verdict: z.enum(VERDICTS).nullable(),
  /** One sentence: why the verdict is what it is. */
  reason: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  /** Who works it, so that a dead worker's record can be recognised. */
  worker: z.object({ pid: z.int(), host: z.string() }),
  order: z.object({ title: z.string(), sha256: z.string() }).nullable(),
  harness: z.string().nullable(),
  harnessVersion: z.string().nullable(),
  harnessWhy: z.string().nullable(),
  sandbox: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  session: z.string().nullable(),
  chain: z.array(z.string()),
  outcome: z.string().nullable(),
  branch: z.string().nullable(),
  /** How many shifts have continued this branch, this one included. */
  continued: z.int(),
  /** The shift whose findings the agent was given, to mend what it left; absent when there were none. */
  carried: z.string().optional(),
  /** Whether its branch held no work at the end and was deleted. */
  dropped: z.boolean().optional(),
  base: z.string().nullable(),
  commit: z.string().nullable(),
  machine: z.string().nullable(),
  usage: z.object({
    requests: z.int(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    dollars: z.number().nullable(),
  }),
  /** Branches that moved to quarantine in this shift; absent when none did. */
  quarantined: z.array(z.string()).optional(),
  /** The last exchange with the provider that failed, key and images taken out. */
  providerFailure: z.unknown().optional(),
  /** How many findings each gate has, by rule, as last run. */
  findings: z.record(z.string(), z.int()),
  stations: z.array(stationRecord),
});

export type ShiftRecord = z.infer<typeof shiftRecord>;
export type StationRecord = z.infer<typeof stationRecord>;

const QUARANTINED =
  'It was continued too often, and no shift goes on with it: read why it did not land, then release its branch or drop it, in the control room or as docs/operating.md says.';

/** What a mend says of work that waits on a branch. */
export const CONTINUES = 'the next shift continues its work';
const AFRESH = 'the next shift begins afresh, for nothing was made';

/**
 * The station that failed last, with what to do now that the shift is over: nothing continues a branch in quarantine, or
 * one that held no work.
 */
export function failureOf({ stations, branch, quarantined = [], dropped }: ShiftRecord): StationRecord | undefined {
  const failed = stations.findLast(({ status }) => status === 'failed');
  if (!failed?.error) return failed;
  const { mend } = failed.error;
  if (branch !== null && quarantined.includes(branch))
    return { ...failed, error: { ...failed.error, mend: QUARANTINED } };
  return dropped ? { ...failed, error: { ...failed.error, mend: mend.replace(CONTINUES, AFRESH) } } : failed;
}

export const shiftFolder = (data: string, id: string) => join(data, 'shifts', id);

export async function writeRecord(data: string, record: ShiftRecord): Promise<void> {
  await writeFileDurable(join(shiftFolder(data, record.id), 'shift.json'), `${JSON.stringify(record, null, 2)}\n`);
}

/** A shift's record; null when there is none or it is not one (half a disk, a foreign file). */
export async function readRecord(data: string, id: string): Promise<ShiftRecord | null> {
  if (!ID_PATTERN.test(id)) return null;
  try {
    const parsed = shiftRecord.safeParse(JSON.parse(await readFile(join(shiftFolder(data, id), 'shift.json'), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Orders ids by second, then by the number that was appended (`-2` before `-10`). */
export function compareIds(a: string, b: string): number {
  const [stemA, stemB] = [a.slice(0, 15), b.slice(0, 15)];
  if (stemA !== stemB) return stemA < stemB ? -1 : 1;
  return Number(a.slice(16) || 1) - Number(b.slice(16) || 1);
}

/** Ids of every shift in the data folder, oldest first. */
export async function listShifts(data: string): Promise<string[]> {
  const names = await readdir(join(data, 'shifts')).catch(() => [] as string[]);
  return names.filter((name) => ID_PATTERN.test(name)).sort(compareIds);
}
