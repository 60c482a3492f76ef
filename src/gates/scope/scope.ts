import { CATALOGUE } from '../../line/catalogue.ts';
import type { Line } from '../../line/line.ts';
import { shown } from '../../line/tree.ts';
import { type Finding, type GateReport, report } from '../finding.ts';
import { compareCatalogues } from './entries.ts';
import { bounded, changedFiles, machineFolder, strayFiles, unlandable } from './files.ts';

export interface ScopeReport extends GateReport {
  /** The slug of the one new machine; null when the work adds none, or more than one. */
  slug: string | null;
}

/**
 * The scope gate: compares a commit's tree with base's and judges what the shift changed (docs/gates.md).
 * @param options.work a snapshot, or the commit that is built to land (then `base` is the tip it is built on).
 * @param options.allowRepair machines that check names on base itself, `''` for the shelf as a whole; default none.
 */
export async function scope(options: {
  line: Line;
  base: string;
  work: string;
  allowRepair?: string[];
}): Promise<ScopeReport> {
  const startedAt = performance.now();
  const { line } = options;
  const allowed = new Set(options.allowRepair ?? []);
  const [base, work] = [await line.filesOf(options.base), await line.filesOf(options.work)];
  const repairable = (slug: string) => allowed.has(shown(slug));
  const content = (of: typeof base, commit: string) =>
    of.has(CATALOGUE) ? line.read(commit, CATALOGUE) : Promise.resolve(null);
  const entries = compareCatalogues(
    await content(base, options.base),
    await content(work, options.work),
    allowed.size > 0,
  );

  const there = new Set([...base.keys()].map(machineFolder));
  const begun = new Set<string>();
  for (const path of work.keys()) {
    const folder = machineFolder(path);
    if (folder !== null && !there.has(folder)) begun.add(folder);
  }
  const findings: Finding[] = [
    ...bounded(changedFiles(base, work, repairable)),
    ...bounded(entries.findings),
    ...folders(begun, there, entries.slug),
    ...unlandable(
      work,
      new Set([...begun, ...[...there].filter((slug) => slug !== null && repairable(slug))] as string[]),
      await line.leftOut(options.work),
    ),
    ...strayFiles(base, work, begun, repairable),
  ];
  return { ...report('scope', entries.slug === null ? [] : [entries.slug], findings, startedAt), slug: entries.slug };
}

/** The one new folder must be the new entry's own. */
function folders(begun: Set<string>, there: Set<string | null>, slug: string | null): Finding[] {
  const told = (machine: string, message: string): Finding => ({
    rule: 'scope/entry',
    severity: 'error',
    machine: shown(machine),
    message,
  });
  const findings: Finding[] = [];
  if (slug !== null && !begun.has(slug)) {
    findings.push(
      there.has(slug)
        ? told(
            slug,
            `the new entry \`${slug}\` names a machine that main has already: take another slug, with a folder of its own`,
          )
        : told(
            slug,
            `the new entry \`${slug}\` has no folder site/machines/${slug}/: name the folder and the entry alike`,
          ),
    );
  }
  for (const folder of begun) {
    if (folder === slug) continue;
    findings.push(
      told(
        folder,
        `the new folder site/machines/${shown(folder)}/ is not the new entry's own: remove it, or rename it to the entry's slug. Exactly one new machine lands`,
      ),
    );
  }
  return bounded(findings);
}
