import { scope as runScope } from '../../gates/scope/scope.ts';
import { tellFindings } from '../findings.ts';
import { judged, nothingToJudge, passed } from '../gate.ts';
import type { Context, Facts, Station, StationResult } from '../station.ts';

/** Judges what the work changed; being the last gate, it also decides whether the work goes back to the agent. */
export const scope: Station = {
  name: 'scope',
  skip: nothingToJudge,
  async run(context) {
    const { facts } = context;
    const { slug, ...report } = await runScope({
      line: facts.line as NonNullable<Facts['line']>,
      base: facts.base as string,
      work: facts.work as string,
      allowRepair: [...(facts.repaired ?? [])],
    });
    const result = await judged(context, report, { machine: slug });
    result.record = { ...result.record, machine: slug };
    return withRework(context, { ...facts, ...result.facts }, result);
  },
};

/** Sends failed work back to the agent with the findings, while reworks and time remain. */
export function withRework({ config, attempt, signal }: Context, facts: Facts, result: StationResult): StationResult {
  const reports = [facts.check, facts.probe, facts.scope].filter((each) => each !== undefined && !each.ok);
  const time = (facts.workedMs ?? 0) < config.time_limit;
  if (passed(facts) || reports.length === 0 || attempt > config.rework || !time || signal.aborted) return result;
  return { ...result, again: tellFindings(reports as NonNullable<(typeof reports)[number]>[]) };
}
