import type { Entry } from '../catalogue/entry.ts';
import type { RowSummary } from './summary.ts';

/** The catalogue as the rows tell it, and where the one on the site says something else. */
export interface Shelf {
  entries: Record<string, unknown>[];
  /** In rows and not on the site. */
  onlyInRows: string[];
  /** On the site and in no row: made before the dataset, or by hand. */
  onlyOnSite: string[];
  /** In both, but not alike. */
  different: string[];
}

const slugOf = (entry: Record<string, unknown>): string => String(entry.slug ?? '');

/** JSON with its keys in one order, so that two entries are alike when they say the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** @param site the site's catalogue; null when it cannot be read and nothing is compared. */
export function shelfOf(rows: readonly RowSummary[], site: readonly Entry[] | null): Shelf {
  const told = new Map<string, Record<string, unknown>>();
  for (const { machinery } of rows) {
    if (machinery?.outcome === 'settled' && machinery.machine) told.set(slugOf(machinery.machine), machinery.machine);
  }
  const entries = [...told.values()];
  if (site === null) return { entries, onlyInRows: [], onlyOnSite: [], different: [] };
  const there = new Map(site.map((entry) => [entry.slug, entry]));
  return {
    entries,
    onlyInRows: [...told.keys()].filter((slug) => !there.has(slug)),
    onlyOnSite: [...there.keys()].filter((slug) => !told.has(slug)),
    different: [...told]
      .filter(([slug, entry]) => there.has(slug) && canonical(there.get(slug)) !== canonical(entry))
      .map(([slug]) => slug),
  };
}
