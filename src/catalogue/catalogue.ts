import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import { type Entry, KEY_ORDER } from './entry.ts';
import { outline, positionAt } from './json.ts';
import { fold } from './name.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The catalogue's file in a site folder. */
export const CATALOGUE_FILE = 'machines.json';

const MEND = 'Mend site/machines.json: a JSON array of objects, one a machine, as docs/formats.md section 6 says.';

/**
 * Reads the text of `machines.json`. Its form alone is judged (JSON, a list, of objects): what the entries hold is for
 * the check gate to say, so that a shelf with a broken entry can still be read and mended.
 * @throws FactoryError `catalogue/invalid`, with `line` and `column` (from 1) in its data and message.
 */
export function parseCatalogue(text: string): Entry[] {
  const refuse = (what: string, offset: number) => {
    const { line, column } = positionAt(text, offset);
    return new FactoryError('catalogue/invalid', {
      message: `machines.json ${what} (line ${line}, column ${column})`,
      mend: MEND,
      data: { line, column },
    });
  };
  const body = text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    const { fault } = outline(body);
    const offset = fault?.offset ?? 0;
    throw refuse(`is not valid JSON: expected ${fault?.expected ?? 'value'}, found ${foundAt(body, offset)}`, offset);
  }
  if (!Array.isArray(value)) throw refuse(`must be an array of objects, and is ${kindOf(value)}`, body.search(/\S/));
  const wrong = value.findIndex((item) => kindOf(item) !== 'an object');
  if (wrong !== -1) {
    const offset = outline(body).items[wrong]?.offset ?? 0;
    throw refuse(`must hold objects only, and item ${wrong + 1} is ${kindOf(value[wrong])}`, offset);
  }
  return value as Entry[];
}

/** Reads a site folder's catalogue. @throws FactoryError `catalogue/invalid`, also when the file is missing or not UTF-8. */
export async function readCatalogue(site: string): Promise<Entry[]> {
  return parseCatalogue(await readCatalogueText(site));
}

/** The text of a site folder's `machines.json`. @throws FactoryError `catalogue/invalid` when it cannot be had. */
export async function readCatalogueText(site: string): Promise<string> {
  const path = join(site, CATALOGUE_FILE);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    const what = error.code === 'ENOENT' ? 'is missing' : `cannot be read (${error.code ?? error.message})`;
    throw new FactoryError('catalogue/invalid', { message: `machines.json ${what}`, mend: MEND, cause: error });
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const lossy = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    const { line, column } = positionAt(lossy, Math.max(0, lossy.indexOf('\ufffd')));
    throw new FactoryError('catalogue/invalid', {
      message: `machines.json is not valid UTF-8 (line ${line}, column ${column})`,
      mend: 'Save site/machines.json as UTF-8.',
      data: { line, column },
      cause: error,
    });
  }
}

/** Writes entries as `machines.json` holds them: key order, two-space indent, final newline. Keys of no entry come last. */
export function formatCatalogue(entries: readonly Entry[]): string {
  const ordered = entries.map((entry) => {
    const known = KEY_ORDER.filter((key) => entry[key] !== undefined).map((key) => [key, entry[key]]);
    return { ...Object.fromEntries(known), ...entry };
  });
  return `${JSON.stringify(ordered, null, 2)}\n`;
}

/** The pairs of the vocabulary that no entry has, in the vocabulary's order. */
export function freePlaces(entries: readonly Entry[], vocabulary: Vocabulary): { domain: string; era: string }[] {
  const taken = new Set(entries.map(({ domain, era }) => placeOf(String(domain), String(era))));
  return vocabulary.domains
    .flatMap((domain) => vocabulary.eras.map((era) => ({ domain, era })))
    .filter(({ domain, era }) => !taken.has(placeOf(domain, era)));
}

/** A place as it is compared. */
export function placeOf(domain: string, era: string): string {
  return `${fold(domain)} / ${fold(era)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function foundAt(text: string, offset: number): string {
  if (offset >= text.length) return 'the end of the file';
  return JSON.stringify(/^[\w.+-]+|^./su.exec(text.slice(offset, offset + 24))?.[0] ?? text[offset]);
}
