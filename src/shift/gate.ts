import { join } from 'node:path';
import type { GateReport } from '../gates/finding.ts';
import { writeFileDurable } from '../support/files.ts';
import { countByRule } from './findings.ts';
import { withoutSecrets } from './without-secrets.ts';
import type { Context, Facts, StationResult } from './station.ts';

/** Whether there is settled work to judge. */
export function settled(facts: Facts): boolean {
  if (facts.work === undefined) return false;
  return facts.outcome ? facts.outcome.result?.reason === 'settled' : facts.finishedBefore === true;
}

/** Why a gate has nothing to judge; null when it has. */
export function nothingToJudge({ facts }: Context): string | null {
  if (facts.idle || settled(facts)) return facts.idle ?? null;
  return facts.outcome?.result?.reason === 'settled' ? 'the work could not be taken' : 'the agent did not settle';
}

/** Whether every gate passed. */
export function passed({ check, probe, scope }: Facts): boolean {
  return check?.ok === true && probe?.ok === true && scope?.ok === true;
}

/** Writes a gate's report beside the record and makes the station's result of it. */
export async function judged(context: Context, report: GateReport, facts: Partial<Facts> = {}): Promise<StationResult> {
  const { gate, findings, ok } = report;
  // A finding quotes what the agent wrote, and the agent may have seen a secret where nothing confines it.
  const told = withoutSecrets(context.config, report);
  await writeFileDurable(join(context.folder, `${gate}.json`), `${JSON.stringify(told, null, 2)}\n`);
  const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const words = [errors > 0 ? plural(errors, 'error') : '', warnings > 0 ? plural(warnings, 'warning') : '']
    .filter(Boolean)
    .join(', ');
  const summary = words === '' ? 'nothing found' : words;
  const all = { ...context.facts, ...facts, [gate]: report };
  const record = { findings: countByRule([all.check, all.probe, all.scope]) };
  if (ok) return { summary, facts: { ...facts, [gate]: report }, record };
  const first = findings.find(({ severity }) => severity === 'error');
  const error = {
    code: `gate/${gate}-failed`,
    message: `${gate} found ${summary}; the first is ${first?.rule}: ${first?.message}`,
    mend: `Read them all: machinery logs ${context.id} --station ${gate}`,
  };
  return { status: 'failed', summary, error, facts: { ...facts, [gate]: report }, record };
}

const plural = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`;
