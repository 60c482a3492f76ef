import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CATALOGUE_FILE, parseCatalogue, readCatalogueText } from '../../catalogue/catalogue.ts';
import { SLUG_PATTERN } from '../../catalogue/entry.ts';
import { type Outline, outline, positionsIn } from '../../catalogue/json.ts';
import { DEFAULT_VOCABULARY, type Vocabulary } from '../../catalogue/vocabulary.ts';
import { asFactoryError, FactoryError } from '../../support/errors.ts';
import { type Finding, type GateReport, report } from '../finding.ts';
import { gateVersion } from './cache.ts';
import { judgeAll } from './crew.ts';
import { judgeEntry, judgeUniqueness, listOf, type Raw, stringOf, type TellEntry } from './entries.ts';
import { judgeFolder, readFolder } from './folder.ts';
import { PARTS } from './machine.ts';
import { ordered, teller } from './tell.ts';

export interface CheckOptions {
  /** The folder that holds `machines.json` and `machines/`. */
  site: string;
  /** Only these machines' findings are told; uniqueness is judged against all. Default: all. */
  slugs?: string[];
  vocabulary?: Vocabulary;
  /** A folder for verdicts by content; null or unset: nothing is remembered. */
  cache?: string | null;
}

/**
 * The static gate: judges a shelf's catalogue and each machine's four files.
 * @throws FactoryError `gate/no-site` when the site is no folder, `gate/no-machine` when a slug is not in the catalogue.
 */
export async function check(options: CheckOptions): Promise<GateReport> {
  const startedAt = performance.now();
  const site = resolve(options.site);
  if (!(await isFolder(site))) {
    throw new FactoryError('gate/no-site', {
      message: `there is no site folder at ${site}`,
      mend: 'Run this at the root of the factory, or name the folder that holds machines.json with --site DIR.',
      data: { site },
    });
  }
  const catalogue = await load(site);
  if ('finding' in catalogue) return report('check', options.slugs ?? [], [catalogue.finding], startedAt);

  const { entries, text } = catalogue;
  const slugs = entries.map((entry) => stringOf(entry, 'slug'));
  const asked = options.slugs && options.slugs.length > 0 ? options.slugs : null;
  for (const slug of asked ?? []) if (!slugs.includes(slug)) throw unknownMachine(slug, site);
  // One group of findings for each machine asked for, in the catalogue's order; an entry without a slug is its own.
  const groups = new Map<string, Finding[]>();
  const groupOf = (at: number) => slugs[at] || `entry ${at}`;
  const judged = new Map<string, Raw>();
  entries.forEach((entry, at) => {
    const slug = slugs[at] as string;
    if (asked && !asked.includes(slug)) return;
    groups.set(groupOf(at), []);
    // A slug that breaks its pattern is told by `entry/slug`; as a path it could lead out of the site.
    if (SLUG_PATTERN.test(slug) && !judged.has(slug)) judged.set(slug, entry);
  });
  const cache = options.cache ?? null;
  const assignments = [...judged].flatMap(([slug, entry]) => {
    const names = { controls: listOf(entry, 'controls'), faults: listOf(entry, 'faults') };
    return PARTS.map((part) => ({ slug, names, part }));
  });
  // Begun first: while its threads start, the entries and the folders are looked at here.
  const judging = judgeAll(assignments, site, cache, cache === null ? '' : gateVersion());
  for (const { at, finding } of judgeShelf(entries, slugs, text, options.vocabulary ?? DEFAULT_VOCABULARY)) {
    groups.get(groupOf(at))?.push(finding);
  }
  for (const slug of judged.keys()) {
    judgeFolder(readFolder(join(site, 'machines', slug)), slug, teller(slug, groups.get(slug) as Finding[]));
  }
  const verdicts = await judging;
  assignments.forEach(({ slug }, n) => {
    groups.get(slug)?.push(...(verdicts[n] ?? []));
  });

  const findings = [...groups.values()].flatMap((group) => ordered(group));
  if (!asked) findings.push(...(await unlisted(site, slugs)));
  const told = slugs.filter((slug) => slug !== '' && groups.has(slug));
  return report('check', [...new Set(told)], findings, startedAt);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** The catalogue, or the one finding that says why there is none. */
async function load(site: string): Promise<{ entries: Raw[]; text: string } | { finding: Finding }> {
  try {
    const text = await readCatalogueText(site);
    return { entries: parseCatalogue(text) as unknown as Raw[], text };
  } catch (thrown) {
    const error = asFactoryError(thrown);
    if (error.code !== 'catalogue/invalid') throw error;
    const { line } = error.data;
    return {
      finding: {
        rule: 'catalogue/json',
        severity: 'error',
        machine: '',
        message: `${error.message}; it must be a JSON array of objects, one a machine`,
        file: CATALOGUE_FILE,
        ...(typeof line === 'number' ? { line } : {}),
      },
    };
  }
}

function unknownMachine(slug: string, site: string): FactoryError {
  return new FactoryError('gate/no-machine', {
    message: `no machine of the catalogue has the slug ${slug}`,
    mend: `Append its entry to ${join(site, CATALOGUE_FILE)} first, or name one that is there.`,
    data: { slug },
  });
}

/** Judges the entries. Where each stands in the file is only looked up when something is told. */
function judgeShelf(
  entries: readonly Raw[],
  slugs: readonly string[],
  text: string,
  vocabulary: Vocabulary,
): { at: number; finding: Finding }[] {
  const told: { at: number; finding: Finding }[] = [];
  let places: Outline | undefined;
  const positionOf = positionsIn(text);
  const tell: TellEntry = (at, rule, message, key, isWarning = false) => {
    places ??= outline(text.replace(/^\ufeff/, ' '));
    const item = places.items[at];
    const offset = item?.keys.get(key) ?? item?.offset;
    const slug = slugs[at] as string;
    told.push({
      at,
      finding: {
        rule,
        severity: isWarning ? 'warning' : 'error',
        machine: slug,
        message: slug === '' ? `entry ${at + 1}: ${message}` : message,
        file: CATALOGUE_FILE,
        ...(offset === undefined ? {} : { line: positionOf(offset).line }),
      },
    });
  };
  entries.forEach((entry, at) => {
    judgeEntry(entry, at, vocabulary, tell);
  });
  judgeUniqueness(entries, tell);
  return told;
}

/** Folders beside the listed machines: work in progress. */
async function unlisted(site: string, slugs: readonly string[]): Promise<Finding[]> {
  const folders = await readdir(join(site, 'machines'), { withFileTypes: true }).catch(() => []);
  return folders
    .filter((folder) => folder.isDirectory() && !slugs.includes(folder.name))
    .map(({ name }) => ({
      rule: 'files/unlisted',
      severity: 'note' as const,
      machine: name,
      message: `machines/${name} is not in the catalogue: work in progress, not judged; append its entry to machines.json when it is ready`,
      file: `machines/${name}`,
    }))
    .sort((a, b) => a.machine.localeCompare(b.machine));
}
