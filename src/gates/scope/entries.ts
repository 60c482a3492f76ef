import { isDeepStrictEqual } from 'node:util';
import { SLUG_PATTERN } from '../../catalogue/entry.ts';
import { appendEntry, slugOf } from '../../line/catalogue.ts';
import type { Finding, Severity } from '../finding.ts';

/** What the work did to the catalogue: which entries are new, and what became of every earlier one. */

const FILE = 'machines.json';
/** A catalogue of 250 machines is 250 KB; past this nothing is read. */
const LARGEST = 16 * 1024 * 1024;

/** A work that adds more entries than this is not compared entry by entry. */
const MOST_ADDED = 1000;

export interface EntryChanges {
  findings: Finding[];
  /** The slug of the one new, last entry; null when there is none or more than one, or its slug is none. */
  slug: string | null;
}

function finding(rule: string, severity: Severity, machine: string, message: string): Finding {
  return { rule, severity, machine, message, file: FILE };
}

type Parsed = { entries: unknown[]; text: string } | { wrong: string };

function parse(content: Buffer): Parsed {
  if (content.length > LARGEST) return { wrong: `it holds ${content.length} bytes` };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    const parsed: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    if (!Array.isArray(parsed)) return { wrong: 'it is not a JSON array' };
    return { entries: parsed, text };
  } catch (error) {
    return { wrong: error instanceof SyntaxError ? error.message.slice(0, 200) : 'it is not valid UTF-8' };
  }
}

/** Deep equality that also answers for values nested deeper than the stack allows: then it is no. */
function equal(a: unknown, b: unknown): boolean {
  try {
    return isDeepStrictEqual(a, b);
  } catch {
    return false;
  }
}

/** An entry by its slug, as far as it has one that can be told; else by its place. */
function called(entry: unknown, index: number): string {
  const slug = slugOf(entry);
  return slug === null ? `number ${index + 1} (without a slug)` : `\`${slug.slice(0, 80)}\``;
}

function editedKeys(before: unknown, after: unknown): string {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return 'all of it';
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const value = (of: object, key: string) => Object.getOwnPropertyDescriptor(of, key)?.value as unknown;
  const edited = [...keys].filter((key) => !equal(value(before, key), value(after, key)));
  return edited
    .slice(0, 10)
    .map((key) => key.slice(0, 40))
    .join(', ');
}

/** Pairs every earlier entry with one of the work's: an equal one first, then one of the same slug. */
function pair(before: unknown[], after: unknown[]): { partner: (number | null)[]; added: number[] } {
  const places = new Map<string, number[]>();
  for (const [index, entry] of after.entries()) {
    const slug = slugOf(entry) ?? `\0${index}`;
    const known = places.get(slug);
    if (known) known.push(index);
    else places.set(slug, [index]);
  }
  const used = new Set<number>();
  const partner = before.map((entry, index) => {
    const candidates = (places.get(slugOf(entry) ?? `\0${index}`) ?? []).filter((each) => !used.has(each));
    const same = index < after.length && !used.has(index) && equal(entry, after[index]) ? index : undefined;
    const found = same ?? candidates.find((each) => equal(entry, after[each])) ?? candidates[0] ?? null;
    if (found !== null) used.add(found);
    return found;
  });
  return { partner, added: after.map((_entry, index) => index).filter((index) => !used.has(index)) };
}

/**
 * Judges the catalogue of the work against base's. With `repair` (check failed on base itself) changes of earlier entries
 * are allowed and listed as notes.
 */
export function compareCatalogues(
  baseContent: Buffer | null,
  workContent: Buffer | null,
  repair: boolean,
): EntryChanges {
  const nothing = (message: string): EntryChanges => ({
    findings: [finding('scope/catalogue', 'error', '', message)],
    slug: null,
  });
  if (workContent === null)
    return nothing('site/machines.json was removed: put it back as it was on main, and append the one new entry');
  const work = parse(workContent);
  if ('wrong' in work)
    return nothing(
      `site/machines.json cannot be compared with main's: ${work.wrong}. It must be main's array with the one new entry appended`,
    );
  const base: Parsed = baseContent === null ? { entries: [], text: '[]\n' } : parse(baseContent);
  if ('wrong' in base && !repair)
    return nothing(`site/machines.json cannot be compared: main's own is broken (${base.wrong})`);
  const before = 'wrong' in base ? [] : base.entries;
  const findings: Finding[] = [];
  const change = (machine: string, message: string) => {
    if (repair)
      findings.push(
        finding('scope/catalogue', 'note', machine, `${message} (allowed: main's shelf has errors of its own to mend)`),
      );
    else
      findings.push(
        finding(
          'scope/catalogue',
          'error',
          machine,
          `${message}: earlier entries stay as they are on main, in the same order`,
        ),
      );
  };
  if (work.entries.length > before.length + MOST_ADDED) {
    return nothing(
      `${work.entries.length - before.length} entries were added to site/machines.json: append exactly one`,
    );
  }
  const { partner, added } = pair(before, work.entries);
  for (const [index, entry] of before.entries()) {
    const place = partner[index] ?? null;
    const after = place === null ? undefined : work.entries[place];
    if (place === null) change(slugOf(entry) ?? '', `the entry ${called(entry, index)} was removed`);
    else if (!equal(entry, after)) {
      change(slugOf(entry) ?? '', `the entry ${called(entry, index)} was edited (${editedKeys(entry, after)})`);
    }
  }
  const places = partner.filter((place) => place !== null);
  const inOrder = [...places].sort((a, b) => a - b);
  const moved = places.findIndex((place, index) => place !== inOrder[index]);
  if (moved >= 0) {
    const found = inOrder[moved] ?? 0;
    change(
      '',
      `earlier entries were moved: ${called(work.entries[found], found)} stands before ${called(work.entries[places[moved] ?? 0], 0)}`,
    );
  }
  // Where main's catalogue cannot be read, only the last entry can be the new one.
  const fresh = 'wrong' in base ? added.slice(-1) : added;
  const slug = newEntry(work.entries, fresh, findings);
  const rewritten =
    !('wrong' in base) &&
    findings.every((each) => each.rule !== 'scope/catalogue') &&
    reformatted(base.text, work, fresh);
  if (rewritten) {
    findings.push(
      finding(
        'scope/catalogue',
        'warning',
        '',
        'white space of earlier entries in site/machines.json was rewritten; it is left out of the landing. Append the new entry and touch nothing else',
      ),
    );
  }
  return { findings, slug };
}

function newEntry(entries: unknown[], added: number[], findings: Finding[]): string | null {
  const told = (machine: string, message: string) => findings.push(finding('scope/entry', 'error', machine, message));
  const [index] = added;
  if (index === undefined) {
    told('', 'no entry was added to site/machines.json: append exactly one, for the new machine');
    return null;
  }
  if (added.length > 1) {
    told(
      '',
      `${added.length} entries were added to site/machines.json (${added
        .slice(0, 10)
        .map((each) => called(entries[each], each))
        .join(', ')}): append exactly one`,
    );
    return null;
  }
  const slug = slugOf(entries[index]);
  if (slug === null || !SLUG_PATTERN.test(slug)) {
    told(
      '',
      `the new entry ${called(entries[index], index)} has no slug that could be a folder's name: lower-case words joined by single dashes`,
    );
    return null;
  }
  if (index !== entries.length - 1)
    told(slug, `the new entry \`${slug}\` is not the last of site/machines.json: move it to the end`);
  return slug;
}

/** Whether the text before the new entry is another than main's, though its entries are equal. */
function reformatted(baseText: string, work: { entries: unknown[]; text: string }, added: number[]): boolean {
  if (added.length === 0) return baseText !== work.text;
  if (added.length > 1 || added[0] !== work.entries.length - 1) return false;
  const before = baseText.slice(0, baseText.lastIndexOf(']')).trimEnd();
  if (work.text.startsWith(before)) return false;
  try {
    return appendEntry(baseText, work.entries.at(-1)) !== work.text;
  } catch {
    return true;
  }
}
