import { passed, settled } from './gate.ts';
import type { Context } from './station.ts';

/**
 * What becomes of a branch that did not land: one without a change under `site/` is deleted, one that was continued
 * too often moves to quarantine, any other waits for the next shift.
 * @returns a few words for the report, and whether it went to quarantine or was deleted; null when there is nothing to say.
 */
export async function settleBranch({
  facts,
  config,
  log,
}: Context): Promise<{ told: string; quarantined?: string; dropped?: true } | null> {
  const { line, branch, base, commit } = facts;
  if (!line || !branch || !base || commit) return null;
  const work = facts.work ?? (await line.current())?.tip;
  if (work !== undefined && !(await line.differs(base, work))) {
    await line.deleteBranch(branch);
    return { told: `${branch} held no work and is deleted`, dropped: true };
  }
  const finished = settled(facts) && passed(facts);
  if (!finished && facts.outcome && (facts.continued ?? 0) >= config.continuations) {
    await line.quarantine(branch);
    log.warn({ branch }, 'continued too often without landing: moved to quarantine');
    return { told: `${branch} was continued too often and is in quarantine`, quarantined: branch };
  }
  return { told: `${branch} waits for the next shift` };
}
