/**
 * A name as it is compared: case and white space do not tell two names apart. Soft hyphens and zero-width characters,
 * which a reader does not see, are dropped.
 */
export function fold(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
