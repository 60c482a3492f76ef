/**
 * What a reference in a machine's file points at, as a browser would resolve it: leading white space, tabs and line
 * ends inside, back slashes, missing schemes, `..` and percent escapes are the URL parser's business, not ours.
 */

/** Where the site is taken to stand. From disk, so that `http:x` and `//x` are what they are there: elsewhere. */
const SITE = 'file:///factory/shelf/site/';

/** The address of a machine's own folder, ending in a slash. */
export function folderOf(slug: string): string {
  return `${SITE}machines/${encodeURIComponent(slug)}/`;
}

/** Most references by far are a file's name or a fragment; those need no parsing. */
const PLAIN = /^#|^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9]+)?$/i;

/** Schemes that carry their content with them, or nothing at all: using one asks nobody for anything. */
const CARRIED = new Set(['data:', 'blob:', 'about:', 'javascript:', 'mailto:', 'tel:']);

/** Resolves a reference against a base address. @returns null for what is no address: a browser asks for nothing then. */
export function resolve(reference: string, base: string): URL | null {
  return URL.parse ? URL.parse(reference, base) : parseOld(reference, base);
}

/** Node before 22 has no `URL.parse`. */
function parseOld(reference: string, base: string): URL | null {
  try {
    return new URL(reference, base);
  } catch {
    return null;
  }
}

/** Whether loading this would ask for anything outside the machine's own folder. */
export function isElsewhere(reference: string, folder: string, base = folder): boolean {
  if (base === folder && PLAIN.test(reference)) return false;
  const url = resolve(reference, base);
  if (!url || CARRIED.has(url.protocol)) return false;
  return !`${url.protocol}//${url.host}${url.pathname}`.startsWith(folder);
}

/** The same for the fixed beginning of a reference whose end is only known when the script runs. */
export function beginsElsewhere(beginning: string, folder: string): boolean {
  const start = beginning.replace(/^[\u0000- ]+/, '').replace(/[\t\n\r]/g, '');
  // Without a scheme, a slash or a climb nothing is known yet: what follows may be any name.
  if (!/^(?:[a-z][a-z0-9+.-]*:|[\\/]|\.\.?[\\/])/i.test(start)) return false;
  return isElsewhere(`${start}x`, folder);
}

/** Whether a reference names this file of the machine's folder (whatever its query and fragment). */
export function isOwn(reference: string, file: string, folder: string, base = folder): boolean {
  const url = resolve(reference, base);
  return url !== null && `${url.protocol}//${url.host}${url.pathname}` === `${folder}${file}`;
}

/** Whether a reference leads to the shelf's first page: `../../` or `../../index.html`. */
export function isShelf(reference: string, folder: string, base = folder): boolean {
  const url = resolve(reference, base);
  if (url?.host !== '') return false;
  const address = `${url.protocol}//${url.pathname}`;
  return address === SITE || address === `${SITE}index.html`;
}

/** Whether a reference runs a script when it is followed. */
export function isScriptReference(reference: string): boolean {
  return /^[\u0000- ]*j[\t\n\r]*a/i.test(reference) && resolve(reference, SITE)?.protocol === 'javascript:';
}

/** The addresses in a `srcset`: a candidate's address ends at white space, the candidate at a comma outside brackets. */
export function srcsetAddresses(srcset: string): string[] {
  const addresses: string[] = [];
  let rest = srcset;
  for (;;) {
    rest = rest.replace(/^[\s,]+/, '');
    const address = /^\S+/.exec(rest)?.[0];
    if (address === undefined) return addresses;
    rest = rest.slice(address.length);
    addresses.push(address.replace(/,+$/, ''));
    if (!address.endsWith(',')) rest = rest.replace(/^(?:\([^)]*\)|[^,(])*/, '');
  }
}
