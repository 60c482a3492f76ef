import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { check as runCheck } from '../../gates/check/check.ts';
import { type Finding, type GateReport, report } from '../../gates/finding.ts';
import { FactoryError } from '../../support/errors.ts';
import { judged, nothingToJudge } from '../gate.ts';
import type { Context, Station } from '../station.ts';

/** Judges the work's files, without running them. What check finds on base already is not held against the shift. */
export const check: Station = {
  name: 'check',
  skip: nothingToJudge,
  async run(context) {
    const startedAt = performance.now();
    const { facts } = context;
    const tree = await exported(context, facts.work as string, `work-${context.attempt}`);
    const found = await checked(context, tree);
    // The shelf as it was is asked only when there is something to hold against it.
    const base = found.findings.some(isError)
      ? await checked(context, await exported(context, facts.base as string, 'base', tree))
      : null;
    const known = new Set((base?.findings ?? []).map(same));
    const findings = found.findings.filter((finding) => !known.has(same(finding)));
    const repaired = [...new Set((base?.findings ?? []).filter(isError).map(({ machine }) => machine))];
    return judged(context, report('check', found.machines, findings, startedAt), { tree, repaired });
  },
};

const isError = ({ severity }: Finding) => severity === 'error';
const same = ({ rule, machine, file, message }: Finding) => JSON.stringify([rule, machine, file, message]);

/** A clean export of a commit, which nothing that the agent left running can still change. `work` is that of the work, if there. */
async function exported({ config, id, facts }: Context, commit: string, name: string, work?: string): Promise<string> {
  const folder = join(config.data, 'trees', id, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await facts.line?.exportTree(commit, folder, work ? { commit: facts.work as string, folder: work } : undefined);
  return folder;
}

/** check on a tree; a tree without a shelf at all is a finding like any other. */
async function checked({ config }: Context, tree: string): Promise<GateReport> {
  try {
    return await runCheck({
      site: join(tree, 'site'),
      vocabulary: config.catalogue,
      cache: join(config.data, 'cache', 'check'),
    });
  } catch (error) {
    if (!(error instanceof FactoryError) || error.code !== 'gate/no-site') throw error;
    const finding: Finding = {
      rule: 'catalogue/json',
      severity: 'error',
      machine: '',
      message: error.message,
      file: 'machines.json',
    };
    return report('check', [], [finding], performance.now());
  }
}
