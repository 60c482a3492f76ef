// The probe's rows of the gates' table: whole processes, medians, ratios within one run.
// `gates.mjs` prints them; alone: node bench/probe.mjs [--runs N]   (needs a built dist/ and a Chromium)
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from '../dist/gates/probe/chromium.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const MAIN = join(ROOT, 'dist', 'cli', 'main.js');

/** Milliseconds until a process has ended; its exit code must be one of those allowed. */
function time(args, allowed = [0]) {
  const startedAt = performance.now();
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('error', fail);
    child.on('exit', (code) =>
      allowed.includes(code) ? done(performance.now() - startedAt) : fail(new Error(`${args[0]} exits ${code}`)),
    );
  });
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/**
 * Measures and returns rows of `{ figure, value, bar, ok }`.
 * The figures take turns, so that a busy minute of the machine falls on all of them alike.
 */
export async function benchProbe(runs = 5) {
  const work = await mkdtemp(join(tmpdir(), 'bench-probe-'));
  try {
    const chromium = await findChromium();
    const { site, slugs } = await makeSite(work);
    const probe = (...args) => time([MAIN, 'probe', ...args, '--site', site, '--out', work], [0, 1]);
    const figures = {
      floor: () => time([join(ROOT, 'bench', 'probe-floor.mjs'), join(site, 'machines', slugs[0]), work, chromium]),
      probe: () => probe(slugs[0]),
      one: () => probe(slugs[0], '--shots-only'),
      three: () => probe(...slugs, '--shots-only'),
    };
    const times = Object.fromEntries(Object.keys(figures).map((name) => [name, []]));
    for (let run = -1; run < runs; run += 1) {
      for (const [name, measure] of Object.entries(figures)) {
        const took = await measure();
        if (run >= 0) times[name].push(took);
      }
    }
    const [floor, whole, one, three] = ['floor', 'probe', 'one', 'three'].map((name) => median(times[name]));
    return [
      row('probe, one machine, whole process', whole, floor, 'the floor script', 1.3),
      row('three machines, --shots-only', three, one, 'one machine', 1.6),
    ];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function row(figure, took, floor, against, bar) {
  const ratio = took / floor;
  return {
    figure,
    value: `${ratio.toFixed(2)} × ${against} (${Math.round(took)} ms against ${Math.round(floor)} ms)`,
    bar: `at most ${bar} ×`,
    ok: ratio <= bar,
  };
}

/** Three machines to look at: the shelf's newest, copied under three names when the shelf has fewer. */
async function makeSite(work) {
  const site = join(work, 'site');
  await cp(join(ROOT, 'site'), site, { recursive: true });
  const entries = JSON.parse(await readFile(join(site, 'machines.json'), 'utf8'));
  if (entries.length === 0) throw new Error('site/machines.json lists no machine to measure with');
  while (entries.length < 3) {
    const last = entries.at(-1);
    const copy = { ...last, slug: `${last.slug}-${entries.length}` };
    await cp(join(site, 'machines', last.slug), join(site, 'machines', copy.slug), { recursive: true });
    entries.push(copy);
  }
  await writeFile(join(site, 'machines.json'), JSON.stringify(entries));
  return { site, slugs: entries.slice(-3).map(({ slug }) => slug) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--runs');
  for (const { figure, value, bar, ok } of await benchProbe(at === -1 ? 5 : Number(process.argv[at + 1]))) {
    console.log(`${ok ? 'ok  ' : 'OVER'}  ${figure}: ${value}; ${bar}`);
  }
}
