import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_VOCABULARY } from '../../src/catalogue/vocabulary.ts';

const SITE = join(import.meta.dirname, '..', '..', 'site');

export type Entry = Record<string, unknown> & { slug: string };

/** An entry like the catalogue's, each with a place of its own. */
export function entry(index: number, over: Partial<Entry> = {}): Entry {
  const { domains, eras } = DEFAULT_VOCABULARY;
  const place = (index * 37 + 11) % (domains.length * eras.length);
  return {
    slug: `sample-${index}`,
    name: `Sample ${index}`,
    kind: `kind of sample ${index}`,
    domain: domains[Math.floor(place / eras.length)],
    era: eras[place % eras.length],
    design: 'six words about what it is',
    interaction: 'turn one thing against another',
    palette: ['#60707a', '#c89a40', '#b03020'],
    controls: ['A', 'B', 'C', 'D'],
    faults: ['stuck', 'leak'],
    tagline: 'A sample.',
    created: '2024-01-31',
    ...over,
  };
}

/** A site in a temporary folder: the real page over the given catalogue, with a panel that counts frames for each entry. */
export function shelfWith(catalogue: unknown): string {
  const root = mkdtempSync(join(tmpdir(), 'machinery-shelf-'));
  cpSync(join(SITE, 'index.html'), join(root, 'index.html'));
  cpSync(join(SITE, 'shelf'), join(root, 'shelf'), { recursive: true });
  writeFileSync(
    join(root, 'machines.json'),
    typeof catalogue === 'string' ? catalogue : `${JSON.stringify(catalogue, null, 2)}\n`,
  );
  if (Array.isArray(catalogue)) {
    for (const machine of catalogue as (Entry | null)[]) {
      const slug = machine?.slug;
      if (typeof slug !== 'string' || !/^[a-z0-9-]+$/.test(slug)) continue;
      const folder = join(root, 'machines', slug);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'index.html'), `<!doctype html><title>${slug}</title><body><h1>${slug}</h1></body>`);
      writeFileSync(join(folder, 'manual.html'), `<!doctype html><title>${slug}</title><body>manual</body>`);
    }
  }
  return root;
}
