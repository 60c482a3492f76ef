import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from '../../gates/probe/chromium.ts';
import { probe as runProbe } from '../../gates/probe/probe.ts';
import { changedMachines } from '../changed.ts';
import { judged, nothingToJudge } from '../gate.ts';
import type { Station } from '../station.ts';

/** Opens the new machine, and any that the shift repaired, in a real browser and drives it. */
export const probe: Station = {
  name: 'probe',
  skip: (context) => nothingToJudge(context) ?? (context.facts.tree ? null : 'the work could not be exported'),
  async run(context) {
    const { facts, config, folder, signal } = context;
    const site = join(facts.tree as string, 'site');
    const machines = await changedMachines(facts);
    const slugs = machines.filter((slug) => existsSync(join(site, 'machines', slug, 'index.html')));
    if (slugs.length === 0) return { status: 'skipped', summary: 'the work has no new machine to open' };
    const chromium = await findChromium();
    const report = await runProbe({
      site,
      slugs,
      out: folder,
      chromium,
      cache: join(config.data, 'cache', 'probe'),
      signal,
    });
    return judged(context, report);
  },
};
