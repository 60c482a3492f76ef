import { resolve } from 'node:path';
import { readCatalogue } from '../../catalogue/catalogue.ts';
import { FactoryError } from '../../support/errors.ts';
import { type Finding, type GateReport, report } from '../finding.ts';
import { type Chromium, launch } from './browser.ts';
import { Collector } from './collector.ts';
import { areTwins, hashOf, LookCache, sameColourShare } from './look.ts';
import { machineOf, type ProbedMachine } from './machine.ts';
import { DESKTOP, loadPanel, panelSteps, shotSteps } from './panel.ts';
import { Pictures } from './pictures.ts';
import { carryOut, MACHINE_LIMIT_MS, type Visit } from './plan.ts';
import { simulationSteps } from './simulation.ts';

export interface ProbeOptions {
  /** The folder that holds `machines.json` and `machines/`. */
  site: string;
  /** Default: the catalogue's last entry. */
  slugs?: string[];
  /** Where the pictures go: `<slug>-desktop.png`, `<slug>-phone.png` and `<slug>-manual.png`. */
  out: string;
  /** The browser's executable, as `findChromium` gives it. */
  chromium: string;
  /** Takes the pictures and judges nothing. */
  shotsOnly?: boolean;
  /** The factory's cache folder; undefined takes the system's, null none. */
  cache?: string | null;
  /** Ends the probe and its browser at once. */
  signal?: AbortSignal;
}

/** Machines whose pictures are taken at a time. A whole probe is two pages already: those go one by one. */
const SHOTS_AT_A_TIME = 3;

/**
 * The probe gate: opens machines in a real browser with the network cut, drives them, works their panels as a visitor
 * would, and takes their pictures (docs/gates.md).
 * @throws FactoryError `catalogue/invalid`, `usage/invalid` for an unknown slug, `browser/failed`; the signal's reason when aborted.
 */
export async function probe(options: ProbeOptions): Promise<GateReport> {
  const startedAt = performance.now();
  options.signal?.throwIfAborted();
  const launching = launch(options.chromium);
  // Its failure is met where it is awaited; until then it must not be nobody's.
  launching.catch(() => {});
  let chromium: Chromium | null = null;
  const end = () =>
    void launching.then(
      (started) => started.close(),
      () => {},
    );
  options.signal?.addEventListener('abort', end, { once: true });
  try {
    const { machines, others } = await choose(options);
    chromium = await launching;
    const findings = await probeAll(chromium, machines, others, options);
    options.signal?.throwIfAborted();
    return report(
      'probe',
      machines.map(({ slug }) => slug),
      findings,
      startedAt,
    );
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', end);
    await launching.then(
      (started) => started.close(),
      () => {},
    );
  }
}

async function choose(options: ProbeOptions): Promise<{ machines: ProbedMachine[]; others: ProbedMachine[] }> {
  const entries = await readCatalogue(options.site);
  const known = entries.flatMap((entry) => machineOf(resolve(options.site), entry) ?? []);
  const last = entries.at(-1);
  const wanted = options.slugs?.length ? [...new Set(options.slugs)] : last ? [String(last.slug)] : [];
  const machines = wanted.map((slug) => {
    const found = known.findLast((machine) => machine.slug === slug);
    if (found) return found;
    throw new FactoryError('usage/invalid', {
      message: `the catalogue has no machine called ${JSON.stringify(slug)} that could be opened`,
      mend: 'Give the slug of an entry in site/machines.json: lower-case words and digits, joined by single dashes.',
    });
  });
  return { machines, others: known };
}

async function probeAll(
  chromium: Chromium,
  machines: ProbedMachine[],
  others: ProbedMachine[],
  options: ProbeOptions,
): Promise<Finding[]> {
  const findings = machines.map((): Finding[] => []);
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < machines.length; at = next++) {
      const machine = machines[at] as ProbedMachine;
      findings[at] = await probeOne(chromium, machine, others, options);
    }
  };
  await Promise.all(Array.from({ length: options.shotsOnly ? SHOTS_AT_A_TIME : 1 }, worker));
  return findings.flat();
}

async function probeOne(
  { browser }: Chromium,
  machine: ProbedMachine,
  others: ProbedMachine[],
  options: ProbeOptions,
): Promise<Finding[]> {
  const told = new Collector(machine.slug);
  const visit: Visit = { browser, machine, told, deadline: performance.now() + MACHINE_LIMIT_MS };
  const pictures = new Pictures(options.out, machine.slug);
  const { take } = pictures;
  const load = loadPanel(machine);
  if (options.shotsOnly) {
    const nothing = new Collector(machine.slug);
    await carryOut({ ...visit, told: nothing }, { ...DESKTOP, rank: 0 }, load, shotSteps(machine, take));
    await pictures.takeMissing({ ...visit, told: nothing });
    return [];
  }
  await Promise.all([
    carryOut(visit, { ...DESKTOP, rank: 0 }, load, panelSteps(machine, told, take)).then(() =>
      judgeLook(pictures, machine, others, told, options),
    ),
    carryOut(visit, { ...DESKTOP, rank: 2, fineness: 0.25 }, load, simulationSteps(machine, told)),
  ]);
  await pictures.takeMissing(visit);
  return told.findings();
}

async function judgeLook(
  pictures: Pictures,
  machine: ProbedMachine,
  others: ProbedMachine[],
  told: Collector,
  options: ProbeOptions,
): Promise<void> {
  const png = pictures.taken.get('desktop');
  if (!png) return;
  if ((await sameColourShare(png)) >= 0.999) {
    told.add(
      'look/blank',
      '99.9 % or more of the desktop picture is one colour; look at it: the panel draws nothing that can be seen',
      { file: 'index.html' },
    );
    return;
  }
  if (options.cache === null) return;
  const cache = new LookCache(options.cache);
  const hash = await hashOf(png);
  if (!(await cache.isEmpty())) {
    for (const other of others) {
      if (other.slug === machine.slug) continue;
      const known = await cache.read(other.folder);
      if (known === null || !areTwins(hash, known)) continue;
      told.add(
        'look/twin',
        `the desktop picture is nearly the same as that of ${other.slug}; give this machine a layout and shapes of its own`,
        {
          file: 'index.html',
          severity: 'warning',
        },
      );
    }
  }
  await cache.write(machine.folder, hash);
}
