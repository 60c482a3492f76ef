import type { MachineFile } from '../../catalogue/entry.ts';
import type { Finding, Severity } from '../finding.ts';
import { CHECK_RULES, type CheckRule } from './rules.ts';

export interface Place {
  file?: MachineFile;
  /** From 1. */
  line?: number | undefined;
  severity?: Severity;
}

/** How a rule says what it found in the machine at hand. */
export type Tell = (rule: CheckRule, message: string, place?: Place) => void;

/** A rule that is broken more often than this in one file is broken in one way: what follows is only counted. */
const MOST_TOLD = 25;

/** Makes the `Tell` of one machine; what is told lands in `findings`. */
export function teller(machine: string, findings: Finding[]): Tell {
  const told = new Map<string, number>();
  return (rule, message, place = {}) => {
    const key = `${rule} ${place.file ?? ''}`;
    const count = (told.get(key) ?? 0) + 1;
    told.set(key, count);
    if (count > MOST_TOLD + 1) return;
    findings.push({
      rule,
      severity: place.severity ?? 'error',
      machine,
      message: count > MOST_TOLD ? `${message}; and so on, further places are not listed` : message,
      ...(place.file === undefined ? {} : { file: `machines/${machine}/${place.file}` }),
      ...(place.line === undefined ? {} : { line: place.line }),
    });
  };
}

const RANK = new Map<string, number>(CHECK_RULES.map((rule, at) => [rule, at]));

/** Puts findings in the order of the rules, then of the lines; the same thing told twice is told once. */
export function ordered(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings
    .filter(({ rule, machine, message, file, line }) => {
      const key = JSON.stringify([rule, machine, message, file, line]);
      return !seen.has(key) && seen.add(key);
    })
    .sort((a, b) => (RANK.get(a.rule) ?? 0) - (RANK.get(b.rule) ?? 0) || (a.line ?? 0) - (b.line ?? 0));
}

/** A value as it is shown in a message: on one line, and not for ever. */
export function quote(text: string, limit = 80): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return `\`${line.length > limit ? `${line.slice(0, limit)}…` : line}\``;
}
