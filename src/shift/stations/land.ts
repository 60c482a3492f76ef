import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readCatalogue } from '../../catalogue/catalogue.ts';
import { check } from '../../gates/check/check.ts';
import type { GateReport } from '../../gates/finding.ts';
import { scope } from '../../gates/scope/scope.ts';
import type { Line } from '../../line/line.ts';
import { landingSubject } from '../../line/trailers.ts';
import { openSession } from '../../session/read.ts';
import { FactoryError } from '../../support/errors.ts';
import { tellFindings } from '../findings.ts';
import { nothingToJudge, passed } from '../gate.ts';
import type { Context, Station, StationResult } from '../station.ts';

/** How often main may move under one landing before the shift gives up. */
const REBUILDS = 3;

/** Builds the landed tree on main's tip, judges it, and publishes it as one commit; what cannot land stays on its branch. */
export const land: Station = {
  name: 'land',
  skip: (context) => nothingToJudge(context) ?? (passed(context.facts) ? null : 'a gate failed'),
  async run(context) {
    const { facts, log } = context;
    const line = facts.line as Line;
    const message = await landingMessage(context);
    for (let rebuilt = 0; rebuilt <= REBUILDS; rebuilt += 1) {
      const tip = await line.fetch();
      const built = await line.buildLanding(tip, facts.work as string, message, {
        repaired: [...(facts.repaired ?? [])],
      });
      const reports = await judge(context, tip, built.commit);
      const failed = reports.filter(({ ok }) => !ok);
      if (failed.length > 0) return taken(context, failed);
      const published = await line.publish(built.commit, tip);
      if (published === 'landed') return landed(context, line, built.commit);
      if (published === 'refused') throw line.refusal;
      log.warn({ tip, rebuilt }, 'main moved under the landing; building on the new tip');
    }
    throw new FactoryError('line/moved', {
      message: `main moved ${REBUILDS + 1} times while this shift tried to land`,
      mend: 'Nothing to do: the work stays on its branch, and the next shift lands it first.',
    });
  },
};

async function landed({ config, log, facts }: Context, line: Line, commit: string): Promise<StationResult> {
  const branch = facts.branch as string;
  await line
    .deleteBranch(branch)
    .catch((error: unknown) =>
      log.warn({ err: error }, 'the landed branch could not be deleted; the next shift does it'),
    );
  const machine = facts.machine ?? null;
  return {
    summary: `${machine} is on ${config.branch} as ${commit.slice(0, 10)}`,
    facts: { commit },
    record: { commit, machine },
  };
}

/** check and scope on the tree that would land, against the tip it is built on. */
async function judge({ config, id, facts }: Context, tip: string, commit: string): Promise<GateReport[]> {
  const line = facts.line as Line;
  const folder = join(config.data, 'trees', id, 'landing');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // All but a few files are those of the work's own export, which was judged a moment ago.
  const like = facts.tree === undefined ? undefined : { commit: facts.work as string, folder: facts.tree };
  await line.exportTree(commit, folder, like);
  const slugs = facts.machine ? [facts.machine, ...(facts.repaired ?? [])] : undefined;
  const cache = join(config.data, 'cache', 'check');
  const checked = await check({
    site: join(folder, 'site'),
    vocabulary: config.catalogue,
    cache,
    ...(slugs ? { slugs } : {}),
  });
  const { slug: _, ...scoped } = await scope({
    line,
    base: tip,
    work: commit,
    allowRepair: [...(facts.repaired ?? [])],
  });
  return [checked, scoped];
}

/** The new tip has taken the place, the colour or the name: work for the agent, if there is time. */
function taken({ config, attempt, facts, signal }: Context, failed: GateReport[]): StationResult {
  const told = tellFindings(failed);
  const rework = attempt <= config.rework && (facts.workedMs ?? 0) < config.time_limit && !signal.aborted;
  return {
    status: 'failed',
    summary: 'main has moved, and the work no longer fits it',
    error: {
      code: 'line/taken',
      message: `on main's new tip the gates find:\n${told}`,
      mend: rework
        ? 'Nothing to do: the agent is told.'
        : 'Nothing to do: the next shift continues the work with these findings.',
    },
    ...(rework ? { again: told } : {}),
  };
}

async function landingMessage({
  id,
  facts,
}: Context): Promise<{ subject: string; body: string; shift: string; session: string }> {
  const session = facts.session as string;
  const { result } = await openSession(join(facts.sessions as string, `${session}.jsonl`));
  const entries = await readCatalogue(join(facts.tree as string, 'site'));
  const entry = entries.find(({ slug }) => slug === facts.machine);
  const subject = landingSubject(entry?.name ?? String(facts.machine), entry?.tagline ?? '');
  return { subject, body: result?.message ?? '', shift: id, session };
}

/** The four files' text, for the row; a file that is not text is left out. */
export async function machineFiles(tree: string, slug: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of ['index.html', 'machine.css', 'machine.js', 'manual.html']) {
    const text = await readFile(join(tree, 'site', 'machines', slug, name), 'utf8').catch(() => null);
    if (text !== null) files[name] = text;
  }
  return files;
}
