/**
 * A name as it is compared: case and white space do not tell two names apart. Soft hyphens and zero-width characters,
 * which a reader does not see, are dropped.
 */
export function fold(name: string): string {
  // Whole manuals are folded too: only what is not plain ASCII needs a closer look.
  const seen = /[^\u0000-\u007f]/.test(name)
    ? name.normalize('NFC').replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, '')
    : name;
  return seen.replace(/\s+/g, ' ').trim().toLowerCase();
}
