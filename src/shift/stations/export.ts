import { join } from 'node:path';
import { readCatalogue } from '../../catalogue/catalogue.ts';
import type { GateReport } from '../../gates/finding.ts';
import type { TrajectoryFacts } from '../../trajectory/types.ts';
import type { MachineryBlock } from '../../trajectory/machinery.ts';
import { packageVersion } from '../../support/self.ts';
import { withoutCredentials } from '../../support/urls.ts';
import { passed, settled } from '../gate.ts';
import type { Context, Station } from '../station.ts';
import { machineFiles } from './land.ts';

/** Makes a row of the session, finished or not. A row is final, so work that may still land as it is waits with its row. */
export const exportRow: Station = {
  name: 'export',
  always: true,
  async run(context) {
    const { facts, record, store } = context;
    if (record.session === null || !facts.sessions) return { status: 'skipped', summary: 'no session was run' };
    if (!facts.commit && settled(facts) && (passed(facts) || !judgedByAll(facts))) {
      return { status: 'skipped', summary: 'finished work that could not land yet keeps its row waiting' };
    }
    // A process that died after its export made the row already; a row is final.
    if (await store.made(record.session))
      return { status: 'skipped', summary: `row ${record.session} is made already` };
    const block = await machineryBlock(context);
    const row = await store.put(facts.sessions, record.session, block);
    return {
      summary: `row ${row.id}: ${row.counts.messages} messages, ${row.images.length} images`,
      record: { chain: row.chain },
    };
  },
};

const judgedByAll = ({ check, probe, scope }: Context['facts']) =>
  check !== undefined && probe !== undefined && scope !== undefined;

const verdictOf = (report: GateReport | undefined) => (report === undefined ? '' : report.ok ? 'success' : 'failure');

/** What the machinery knows about the result; see docs/formats.md, The machinery block. */
async function machineryBlock({
  config,
  id,
  facts,
  record,
}: Context): Promise<(row: TrajectoryFacts) => MachineryBlock> {
  const landedSlug = facts.commit && facts.machine ? facts.machine : null;
  const entries = landedSlug ? await readCatalogue(join(facts.tree as string, 'site')) : [];
  const machine = entries.find(({ slug }) => slug === landedSlug) ?? null;
  const files = landedSlug ? await machineFiles(facts.tree as string, landedSlug) : {};
  const url = config.console.public_url;
  return (row) => ({
    repository: withoutCredentials(config.origin),
    run: url ? `${url.replace(/\/$/, '')}/shifts/${id}` : id,
    commit: facts.commit ?? '',
    outcome: row.outcome,
    catalogue_check: verdictOf(facts.check),
    probe: verdictOf(facts.probe),
    committed: facts.commit !== undefined,
    machine: machine && { ...machine },
    files,
    shift: {
      id,
      durations: durations(record.stations),
      findings: record.findings,
      versions: {
        machinery: packageVersion(),
        harness: `${record.harness} ${record.harnessVersion}`,
        node: process.versions.node,
      },
      tokens: { input: record.usage.inputTokens, output: record.usage.outputTokens },
      ...(record.usage.dollars === null ? {} : { cost: record.usage.dollars }),
      looked: row.looked,
      attempts: record.stations.reduce((most, { attempt }) => Math.max(most, attempt), 1),
      continued: record.continued,
      sandbox: record.sandbox,
    },
  });
}

function durations(stations: Context['record']['stations']): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { name, durationMs, status } of stations) if (status !== null) sums[name] = (sums[name] ?? 0) + durationMs;
  return sums;
}
