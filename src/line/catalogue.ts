/** The catalogue's text, changed as little as can be: an entry is appended, every earlier byte stays. */

export const CATALOGUE = 'site/machines.json';
export const MACHINES = 'site/machines';

/** The entries of a catalogue's bytes, or null when they are no UTF-8 JSON array. */
export function parseCatalogue(content: Uint8Array | null): unknown[] | null {
  if (content === null) return null;
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The slug of an entry, or null when it has none. */
export function slugOf(entry: unknown): string | null {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return null;
  const slug = Object.getOwnPropertyDescriptor(entry, 'slug')?.value as unknown;
  return typeof slug === 'string' ? slug : null;
}

/** A whole catalogue as text: two spaces, final newline. */
export function catalogueText(entries: unknown[]): string {
  return `${JSON.stringify(entries, null, 2)}\n`;
}

/**
 * Appends an entry to a catalogue's text. What was there stays byte for byte, up to the bracket that closes it.
 * @param text a valid JSON array.
 */
export function appendEntry(text: string, entry: unknown): string {
  const body = text.slice(0, text.lastIndexOf(']')).trimEnd();
  const written = JSON.stringify(entry, null, 2).replace(/^/gm, '  ');
  const comma = body.replace(/^\ufeff/, '').trim() === '[' ? '' : ',';
  return `${body}${comma}\n${written}\n]\n`;
}
