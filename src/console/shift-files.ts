import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding, GateReport } from '../gates/finding.ts';
import { shiftFolder } from '../shift/record.ts';

const GATES = ['check', 'probe', 'scope'] as const;

/** A gate's report as it was kept; null when it is not there or is not one. */
async function readReport(folder: string, gate: (typeof GATES)[number]): Promise<GateReport | null> {
  try {
    const report = JSON.parse(await readFile(join(folder, `${gate}.json`), 'utf8')) as GateReport;
    return Array.isArray(report.findings) ? report : null;
  } catch {
    return null;
  }
}

export async function readReports(data: string, shift: string): Promise<GateReport[]> {
  const folder = shiftFolder(data, shift);
  const reports = await Promise.all(GATES.map((gate) => readReport(folder, gate)));
  return reports.filter((report) => report !== null);
}

/** Findings of one rule, with the gate that said them. */
export interface RuleGroup {
  gate: string;
  rule: string;
  severity: Finding['severity'];
  findings: Finding[];
}

const RANK = { error: 0, warning: 1, note: 2 } as const;

/** Groups findings by rule, errors first. */
export function byRule(reports: readonly GateReport[]): RuleGroup[] {
  const groups = new Map<string, RuleGroup>();
  for (const { gate, findings } of reports) {
    for (const finding of findings) {
      const key = `${gate} ${finding.rule} ${finding.severity}`;
      const group = groups.get(key) ?? { gate, rule: finding.rule, severity: finding.severity, findings: [] };
      group.findings.push(finding);
      groups.set(key, group);
    }
  }
  return [...groups.values()].sort((a, b) => (RANK[a.severity] ?? 3) - (RANK[b.severity] ?? 3));
}

/** Names of the screenshots in a shift's folder, sorted. */
export async function screenshots(data: string, shift: string): Promise<string[]> {
  const names = await readdir(shiftFolder(data, shift)).catch(() => [] as string[]);
  return names.filter((name) => SHOT.test(name)).sort();
}

/** A screenshot as the probe names it. */
export const SHOT = /^[a-z0-9]+(?:-[a-z0-9]+)*-(?:desktop|phone|manual)\.png$/;

/** Which of a machine's screenshots shows what a rule is about; null when none does. */
export function shotFor(rule: string, machine: string, shots: readonly string[]): string | null {
  const view = /phone/.test(rule) ? 'phone' : /^manual\//.test(rule) ? 'manual' : 'desktop';
  return shots.find((name) => name === `${machine}-${view}.png`) ?? null;
}

/** Files of a shift that may be downloaded as they are. */
export const DOWNLOADS = ['shift.json', 'log.ndjson', 'agent.log', 'check.json', 'probe.json', 'scope.json'] as const;

export async function downloads(data: string, shift: string): Promise<string[]> {
  const names = await readdir(shiftFolder(data, shift)).catch(() => [] as string[]);
  return DOWNLOADS.filter((name) => names.includes(name));
}
