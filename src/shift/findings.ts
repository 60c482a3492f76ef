import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding, GateReport } from '../gates/finding.ts';
import { compareIds, readRecord, shiftFolder } from './record.ts';

/** A model reads them; past this many, the rest is only counted. */
const MOST = 60;

const place = ({ file, line }: Finding) => (file ? ` (${file}${line ? `:${line}` : ''})` : '');

/** What the gates found, as the agent is told: errors first, a line each with its rule, machine and place. */
export function tellFindings(reports: readonly GateReport[]): string {
  const all = reports.flatMap(({ gate, findings }) => findings.map((finding) => ({ gate, ...finding })));
  const rank = { error: 0, warning: 1, note: 2 } as const;
  const sorted = all.sort((a, b) => rank[a.severity] - rank[b.severity]);
  const lines = sorted
    .slice(0, MOST)
    .map(
      (finding) =>
        `- ${finding.gate} ${finding.severity} ${finding.rule}, ${finding.machine || 'the shelf'}: ${finding.message}${place(finding)}`,
    );
  if (sorted.length > MOST) lines.push(`- and ${sorted.length - MOST} more`);
  return lines.join('\n');
}

/** How many findings each rule has, for the record. */
export function countByRule(reports: readonly (GateReport | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const report of reports) for (const { rule } of report?.findings ?? []) counts[rule] = (counts[rule] ?? 0) + 1;
  return counts;
}

/**
 * What the gates of an earlier shift found, when it has errors: the agent that continues its work is told. A shift that
 * ended before its gates hands on what it was given itself.
 * @returns the findings, and the shift whose gates found them.
 */
export async function earlierFindings(
  data: string,
  shift: string,
): Promise<{ told: string; from: string } | undefined> {
  const reports = await Promise.all(
    ['check', 'probe', 'scope'].map(async (gate) => {
      try {
        return JSON.parse(await readFile(join(shiftFolder(data, shift), `${gate}.json`), 'utf8')) as GateReport;
      } catch {
        return null;
      }
    }),
  );
  const from = (await readRecord(data, shift))?.carried;
  // A shift only ever carries from one before it, so this comes to an end.
  if (reports.every((report) => report === null))
    return from !== undefined && compareIds(from, shift) < 0 ? earlierFindings(data, from) : undefined;
  const failed = reports.filter((report) => report !== null && report.ok === false && Array.isArray(report.findings));
  return failed.length === 0 ? undefined : { told: tellFindings(failed as GateReport[]), from: shift };
}
