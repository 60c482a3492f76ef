export type Severity = 'error' | 'warning' | 'note';

/** One thing a gate says. `rule` is an id of docs/gates.md; `machine` a slug, or '' for the shelf as a whole. */
export interface Finding {
  rule: string;
  severity: Severity;
  machine: string;
  /** What is wrong, where, and what would be right: a model reads it and must be able to mend it. */
  message: string;
  /** Relative to the site folder. */
  file?: string;
  line?: number;
}

/** What a gate returns, and what `--json` prints. `ok` is true when no finding is an error. */
export interface GateReport {
  gate: 'check' | 'probe' | 'scope';
  ok: boolean;
  /** The slugs that were judged. */
  machines: string[];
  findings: Finding[];
  durationMs: number;
}

/** Closes a report: orders nothing, counts errors, takes the time. */
export function report(
  gate: GateReport['gate'],
  machines: string[],
  findings: Finding[],
  startedAt: number,
): GateReport {
  return {
    gate,
    ok: !findings.some((finding) => finding.severity === 'error'),
    machines,
    findings,
    durationMs: Math.round(performance.now() - startedAt),
  };
}
