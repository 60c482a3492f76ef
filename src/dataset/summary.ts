import type { GateVerdict, Looked, MachineryBlock } from '../trajectory/machinery.ts';
import type { TrajectoryFacts } from '../trajectory/types.ts';

/** What the index keeps of a row: all that lists, filters and counts ask for, and nothing that grows with the conversation. */
export interface RowSummary {
  id: string;
  chain: string[];
  model: string;
  provider: string;
  driver: string;
  /** RFC 3339, as recorded. */
  started: string;
  ended: string;
  /** The result's reason; '' when there is none. */
  outcome: string;
  complete: boolean;
  truncated: boolean;
  counts: TrajectoryFacts['counts'];
  looked: Looked;
  /** Length of the row's file. */
  bytes: number;
  tokens: { input: number; output: number };
  /** US dollars; null when the provider did not say. */
  cost: number | null;
  /** Absent when the row has no `machinery` block. */
  machinery?: {
    repository: string;
    run: string;
    commit: string;
    outcome: string;
    catalogue_check: GateVerdict;
    probe: GateVerdict;
    committed: boolean;
    machine: Record<string, unknown> | null;
    findings: Record<string, number>;
  };
}

/** Sums a row up from what is known when it is made. */
export function summarise(facts: TrajectoryFacts, block: MachineryBlock | undefined, bytes: number): RowSummary {
  const { id, chain, model, provider, driver, started, ended, outcome, complete, truncated, counts, result } = facts;
  const shift = block?.shift;
  return {
    ...{ id, chain, model, provider, driver, started, ended, outcome, complete, truncated, counts },
    looked: shift?.looked ?? facts.looked,
    bytes,
    tokens: shift?.tokens ?? { input: result?.inputTokens ?? 0, output: result?.outputTokens ?? 0 },
    cost: shift?.cost ?? null,
    ...(block === undefined ? {} : { machinery: landing(block) }),
  };
}

function landing(block: MachineryBlock): NonNullable<RowSummary['machinery']> {
  const { repository, run, commit, outcome, catalogue_check, probe, committed, machine, shift } = block;
  return {
    repository,
    run,
    commit,
    outcome,
    catalogue_check,
    probe,
    committed,
    machine,
    findings: shift?.findings ?? {},
  };
}
