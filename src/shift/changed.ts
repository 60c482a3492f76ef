import { parseCatalogue } from '../catalogue/catalogue.ts';
import type { Facts } from './station.ts';

/** Slugs that the work's catalogue lists and base's does not, then the machines that check found at fault on base. */
export async function changedMachines({ line, base, work, repaired = [] }: Facts): Promise<string[]> {
  const listed = async (commit: string | undefined): Promise<string[]> => {
    const bytes = commit && line ? await line.read(commit, 'site/machines.json') : null;
    try {
      return bytes === null ? [] : parseCatalogue(bytes.toString('utf8')).map(({ slug }) => slug);
    } catch {
      return [];
    }
  };
  const before = new Set(await listed(base));
  const added = (await listed(work)).filter(
    (slug) => typeof slug === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) && !before.has(slug),
  );
  return [...new Set([...added, ...repaired.filter((slug) => before.has(slug))])];
}
