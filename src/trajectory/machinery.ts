/** What a gate came to; `''` when it did not run. */
export type GateVerdict = 'success' | 'failure' | '';

/** How often the model looked at its work; see `Looking`. */
export interface Looked {
  /** Images it viewed. */
  views: number;
  /** Of these, how many showed a machine whose design it had changed since it first saw it. */
  afterChange: number;
}

/** Facts of the shift that the card does not ask for. */
interface ShiftBlock {
  /** Milliseconds by station. */
  durations?: Record<string, number>;
  /** Number of findings by rule. */
  findings?: Record<string, number>;
  /** What made the row: machinery, harness, browser… */
  versions?: Record<string, string>;
  tokens?: { input: number; output: number };
  /** US dollars, as the provider reported them. */
  cost?: number;
  looked?: Looked;
  /** Secrets that were taken out before the row was shipped, by rule. */
  redactions?: Record<string, number>;
  [more: string]: unknown;
}

/** What the factory knows about the result; docs/formats.md, section 5. */
export interface MachineryBlock {
  /** The origin, without credentials. */
  repository: string;
  /** Where the shift's record can be seen: a URL, else the shift's id. */
  run: string;
  /** The landed commit's id, else `''`. */
  commit: string;
  /** The result's reason; `''` only when the log has no result. */
  outcome: string;
  catalogue_check: GateVerdict;
  probe: GateVerdict;
  /** Whether the shift landed on main. */
  committed: boolean;
  /** The catalogue entry this shift added, when it settled and landed. */
  machine: Record<string, unknown> | null;
  /** The four files' text by name, else `{}`. */
  files: Record<string, string>;
  shift?: ShiftBlock;
}

/** Puts a block's keys in the order rows have them. */
export function ordered(block: MachineryBlock): MachineryBlock {
  const { repository, run, commit, outcome, catalogue_check, probe, committed, machine, files, shift } = block;
  const fixed = { repository, run, commit, outcome, catalogue_check, probe, committed, machine, files };
  return shift === undefined ? fixed : { ...fixed, shift };
}
