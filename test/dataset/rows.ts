import type { MachineryBlock } from '../../src/trajectory/machinery.ts';
import type { TrajectoryFacts } from '../../src/trajectory/types.ts';

/** A secret that can be spelt in every form: it has characters that URLs and JSON escape. */
export const SECRET = 'sk-7"Zq/fp+Xw=Kd9&Ru';

export const MACHINE = { slug: 'tide-gate', name: 'Tide gate', kind: 'sluice', domain: 'water', era: '1950s' };

/** A machinery block as a shift that landed makes it. */
export const block = (facts: TrajectoryFacts): MachineryBlock => ({
  repository: 'https://example.org/factory.git',
  run: facts.id,
  commit: 'c'.repeat(40),
  outcome: facts.outcome,
  catalogue_check: 'success',
  probe: 'success',
  committed: true,
  machine: MACHINE,
  files: { 'index.html': '<!doctype html>' },
  shift: { findings: { 'look/overflow': 2 }, cost: 0.5, tokens: { input: 1000, output: 100 } },
});
