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

/** Makes the `Tell` of one machine; what is told lands in `findings`. */
export function teller(machine: string, findings: Finding[]): Tell {
  return (rule, message, place = {}) => {
    findings.push({
      rule,
      severity: place.severity ?? 'error',
      machine,
      message,
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
