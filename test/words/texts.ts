import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** A text of the project, by its path below the root. */
export function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The words of a sentence such as `Domains: a, b,\nc.`, in its order. Throws when the sentence is not there. */
export function sentenceList(source: string, label: string): string[] {
  const sentence = new RegExp(`^${label}: ([^.]+)\\.`, 'm').exec(source)?.[1];
  if (sentence === undefined) throw new Error(`no sentence begins with "${label}:"`);
  return sentence.split(',').map((word) => word.trim());
}

/** Ids of the rules a page lists: those in backticks in the first column of its tables. */
export function ruleIds(page: string): string[] {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  return rows
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z]+\/[a-z-]+)`/g)].map((match) => match[1] ?? ''))
    .filter((id) => id !== '');
}

/** A page with its runs of white space folded, so that a phrase is found across a line break. */
export function folded(page: string): string {
  return page.replace(/\s+/g, ' ');
}
