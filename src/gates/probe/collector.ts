import type { Finding, Severity } from '../finding.ts';

/** Every rule of the probe, in the order of docs/gates.md, which is the order in which findings are told. */
export const PROBE_RULES = [
  'run/exception',
  'run/console-error',
  'run/request-failed',
  'run/external-request',
  'run/hang',
  'api/shape',
  'api/faults',
  'api/deterministic',
  'control/visible',
  'control/reachable',
  'control/named',
  'manual/closed',
  'manual/opens',
  'manual/closes',
  'manual/alone',
  'alarm/cold',
  'alarm/fault',
  'alarm/reset',
  'fault/panel',
  'state/finite',
  'state/alive',
  'layout/desktop',
  'layout/phone',
  'layout/manual-phone',
  'look/blank',
  'look/twin',
] as const;
export type ProbeRule = (typeof PROBE_RULES)[number];

/** More of one rule than this are counted, not told: the first ones are what must be mended. */
const MOST_OF_A_RULE = 12;
const LONGEST_MESSAGE = 600;

export interface Place {
  file?: string;
  line?: number;
}

interface Kept {
  finding: Finding;
  rank: number;
}

/**
 * Gathers what the pages of one machine give rise to. Pages run side by side, so the order in which things arrive is
 * not the same twice: what is told, and in which order, depends only on what was found and on which page (its rank).
 */
export class Collector {
  readonly slug: string;
  private readonly kept = new Map<string, Kept>();
  private readonly hung = new Map<string, number>();
  private readonly notRun = new Map<string, number>();

  constructor(slug: string) {
    this.slug = slug;
  }

  /** Adds a finding. Two with one key are the same thing: the one from the page of the lowest rank is told. */
  add(
    rule: ProbeRule,
    message: string,
    given: Place & { severity?: Severity; key?: string; rank?: number } = {},
  ): void {
    const key = `${rule} ${given.key ?? message}`;
    const rank = given.rank ?? 0;
    const known = this.kept.get(key);
    if (known ? known.rank <= rank : this.kept.size >= 2000) return;
    const finding: Finding = {
      rule,
      severity: given.severity ?? 'error',
      machine: this.slug,
      message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message,
      ...(given.file === undefined ? {} : { file: `machines/${this.slug}/${given.file}` }),
      ...(given.line === undefined ? {} : { line: given.line }),
    };
    this.kept.set(key, { finding, rank });
  }

  /** A step that did not return. */
  addHang(step: string, seconds: number): void {
    this.hung.set(step, seconds);
  }

  /** Steps that could not be tried because of a hang before them, with the rank of their page. */
  addNotRun(steps: string[], rank = 0): void {
    for (const step of steps) this.notRun.set(step, rank);
  }

  findings(): Finding[] {
    this.closeHangs();
    const all = [...this.kept.values()].map(({ finding }) => finding);
    return PROBE_RULES.flatMap((rule) => {
      const ofRule = all.filter((finding) => finding.rule === rule).sort(byPlace);
      const more = ofRule.length - MOST_OF_A_RULE;
      const last = ofRule[MOST_OF_A_RULE - 1];
      if (more <= 0 || !last) return ofRule;
      return [
        ...ofRule.slice(0, MOST_OF_A_RULE - 1),
        { ...last, message: `${last.message} (and ${more} more like it)` },
      ];
    });
  }

  private closeHangs(): void {
    // By page and not by time: which page was killed first must not change what is told.
    const left = [...this.notRun]
      .sort(([, a], [, b]) => a - b)
      .map(([step]) => step)
      .filter((step) => !this.hung.has(step));
    const tail = left.length > 0 ? ` Not run because of it: ${left.join('; ')}.` : '';
    for (const [step, seconds] of this.hung) {
      this.add(
        'run/hang',
        `${step} did not return within ${seconds} s, so its page was killed. Look for a loop without an end.${tail}`,
        { key: step },
      );
    }
  }
}

function byPlace(a: Finding, b: Finding): number {
  return (
    (a.file ?? '').localeCompare(b.file ?? '') || (a.line ?? 0) - (b.line ?? 0) || (a.message < b.message ? -1 : 1)
  );
}
