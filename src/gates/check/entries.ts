import { placeOf } from '../../catalogue/catalogue.ts';
import { distance, parseColour } from '../../catalogue/colour.ts';
import { type Entry, KEY_ORDER, LIST_MINIMUM, SLUG_PATTERN } from '../../catalogue/entry.ts';
import { fold } from '../../catalogue/name.ts';
import type { Vocabulary } from '../../catalogue/vocabulary.ts';
import type { CheckRule } from './rules.ts';
import { quote } from './tell.ts';

/** An entry as it was read: whatever JSON allows may stand under any key. */
export type Raw = Record<string, unknown>;

/** How a rule says what it found in an entry, at one of its keys. */
export type TellEntry = (entry: number, rule: CheckRule, message: string, key: string, isWarning?: boolean) => void;

const STRINGS = KEY_ORDER.filter((key) => !(key in LIST_MINIMUM));
const UNIQUE = ['name', 'kind', 'design', 'interaction'] as const;

/** A string under a key; '' for anything else. */
export function stringOf(entry: Raw, key: keyof Entry): string {
  const value = entry[key];
  return typeof value === 'string' ? value : '';
}

/** The strings of a list under a key, blank ones left out. */
export function listOf(entry: Raw, key: keyof typeof LIST_MINIMUM): string[] {
  const value = entry[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string' && item.trim() !== '') : [];
}

/** The rules that look at one entry alone. */
export function judgeEntry(entry: Raw, at: number, vocabulary: Vocabulary, tell: TellEntry): void {
  judgeFields(entry, at, tell);
  const slug = stringOf(entry, 'slug');
  if (slug.trim() !== '' && !SLUG_PATTERN.test(slug)) {
    tell(
      at,
      'entry/slug',
      `the slug ${quote(slug)} must be words of a-z and 0-9 joined by single dashes, as in ice-plant`,
      'slug',
    );
  }
  judgeWord(entry, at, 'domain', vocabulary.domains, tell);
  judgeWord(entry, at, 'era', vocabulary.eras, tell);
  const design = stringOf(entry, 'design').trim();
  const words = design.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (design !== '' && words < 6) {
    tell(
      at,
      'entry/design-words',
      `the design is told in ${words} word${words === 1 ? '' : 's'}; say it in six or more`,
      'design',
    );
  }
  judgePalette(entry, at, tell);
  const created = stringOf(entry, 'created');
  if (created.trim() !== '' && !isDate(created)) {
    tell(at, 'entry/created', `created is ${quote(created)}; it must be a day that exists, as YYYY-MM-DD`, 'created');
  }
}

function judgeFields(entry: Raw, at: number, tell: TellEntry): void {
  for (const key of STRINGS) {
    const value = entry[key];
    if (value === undefined) tell(at, 'entry/field', `${key} is missing; it must be a string`, key);
    else if (typeof value !== 'string')
      tell(at, 'entry/field', `${key} must be a string, and is ${JSON.stringify(value)?.slice(0, 60)}`, key);
    else if (value.trim() === '') tell(at, 'entry/field', `${key} is blank; every entry must say something there`, key);
  }
  for (const [key, least] of Object.entries(LIST_MINIMUM)) {
    const value = entry[key];
    if (!Array.isArray(value)) {
      tell(
        at,
        'entry/field',
        `${key} ${value === undefined ? 'is missing; it' : ''} must be a list of at least ${least} strings`,
        key,
      );
      continue;
    }
    const wrong = value.findIndex((item) => typeof item !== 'string' || item.trim() === '');
    if (wrong !== -1) tell(at, 'entry/field', `item ${wrong + 1} of ${key} must be a string that is not blank`, key);
    if (value.length < least)
      tell(at, 'entry/field', `${key} holds ${value.length}; at least ${least} are needed`, key);
  }
  for (const key of Object.keys(entry)) {
    if ((KEY_ORDER as readonly string[]).includes(key)) continue;
    tell(at, 'entry/field', `${quote(key)} is no key of an entry; the keys are ${KEY_ORDER.join(', ')}`, key, true);
  }
}

function judgeWord(entry: Raw, at: number, key: 'domain' | 'era', words: readonly string[], tell: TellEntry): void {
  const word = stringOf(entry, key);
  if (word.trim() === '' || words.includes(word)) return;
  tell(at, `entry/${key}`, `${quote(word)} is not one of the ${key}s: ${words.join(', ')}`, key);
}

function judgePalette(entry: Raw, at: number, tell: TellEntry): void {
  const palette = listOf(entry, 'palette');
  for (const colour of palette) {
    if (!parseColour(colour)) tell(at, 'entry/palette', `${quote(colour)} is no colour; write #rrggbb`, 'palette');
  }
  const [chassis, accent] = colours(entry);
  if (!chassis || !accent) return;
  const apart = distance(chassis, accent);
  if (apart >= 60) return;
  tell(
    at,
    'entry/palette',
    `chassis ${palette[0]} and accent ${palette[1]} are ${apart.toFixed(1)} apart; they must be at least 60`,
    'palette',
  );
}

function colours(entry: Raw) {
  const palette = Array.isArray(entry.palette) ? entry.palette : [];
  return [palette[0], palette[1]].map((colour) => (typeof colour === 'string' ? parseColour(colour) : null));
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** The rules that hold an entry against all others. Both sides of a clash are told. */
export function judgeUniqueness(entries: readonly Raw[], tell: TellEntry): void {
  const named = (at: number) => quote(stringOf(entries[at] as Raw, 'slug') || `entry ${at + 1}`);
  const clashes = (
    key: string,
    wordOf: (entry: Raw) => string,
    say: (at: number, other: number) => [CheckRule, string],
  ) => {
    const holders = new Map<string, number[]>();
    entries.forEach((entry, at) => {
      const value = wordOf(entry);
      if (value === '') return;
      const group = holders.get(value);
      if (group) group.push(at);
      else holders.set(value, [at]);
    });
    for (const group of holders.values()) {
      if (group.length < 2) continue;
      for (const at of group) {
        const [rule, message] = say(at, group.find((other) => other !== at) as number);
        tell(at, rule, message, key);
      }
    }
  };
  clashes(
    'slug',
    (entry) => stringOf(entry, 'slug'),
    (at) => ['entry/slug', `the slug ${named(at)} is used twice`],
  );
  for (const key of UNIQUE) {
    clashes(
      key,
      (entry) => fold(stringOf(entry, key)),
      (_, other) => [`entry/unique-${key}`, `${named(other)} has the same ${key}; every machine needs its own`],
    );
  }
  clashes(
    'domain',
    (entry) => {
      const [domain, era] = [stringOf(entry, 'domain'), stringOf(entry, 'era')];
      return domain.trim() === '' || era.trim() === '' ? '' : placeOf(domain, era);
    },
    (at, other) => {
      const entry = entries[at] as Raw;
      return [
        'entry/unique-place',
        `${named(other)} has the place ${stringOf(entry, 'domain')}, ${stringOf(entry, 'era')}; take a pair that is free`,
      ];
    },
  );
  judgeColours(entries, named, tell);
}

function judgeColours(entries: readonly Raw[], named: (at: number) => string, tell: TellEntry): void {
  const all = entries.map(colours);
  all.forEach(([chassis, accent], at) => {
    if (!chassis || !accent) return;
    let nearest: { other: number; apart: number } | null = null;
    all.forEach(([otherChassis, otherAccent], other) => {
      if (other === at || !otherChassis || !otherAccent) return;
      const apart = distance(chassis, otherChassis) + distance(accent, otherAccent);
      if (apart < 80 && apart < (nearest?.apart ?? 80)) nearest = { other, apart };
    });
    const found = nearest as { other: number; apart: number } | null;
    if (!found) return;
    tell(
      at,
      'entry/unique-palette',
      `the colours are ${found.apart.toFixed(1)} from those of ${named(found.other)} (chassis and accent together); at least 80 is needed`,
      'palette',
    );
  });
}
