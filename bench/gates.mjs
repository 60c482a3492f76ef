// The gates' table. Check: whole processes on a shelf of 250 machines of about 107 KB, medians, ratios within one run.
// The probe's rows are probe.mjs's. Usage: node bench/gates.mjs [--runs N]   (needs a built dist/)
import { spawn } from 'node:child_process';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchProbe, median } from './probe.mjs';
import { makeShelf, shelfEntries } from './shelf.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
const COUNT = 250;

/** Measures and returns rows of `{ figure, value, bar, ok }`. The figures take turns, so that a busy minute falls on all. */
export async function benchCheck(runs = 5) {
  const work = await mkdtemp(join(tmpdir(), 'bench-check-'));
  const site = join(work, 'site');
  try {
    const entries = shelfEntries();
    await makeShelf(site, entries);
    const slugs = entries.map(({ slug }) => slug);
    const caches = { cold: join(work, 'cold'), warm: join(work, 'warm') };
    const check = (cache) =>
      time([MAIN, 'check', '--site', site, '--json'], { ...process.env, MACHINERY_DATA: cache }, work);
    let touched = 0;
    const figures = {
      floor: () => time([join(ROOT, 'bench', 'check-floor.mjs'), site], process.env, work),
      cold: async () => {
        await rm(caches.cold, { recursive: true, force: true });
        return check(caches.cold);
      },
      changed: async () => {
        touched += 1;
        await appendFile(join(site, 'machines', slugs[touched % COUNT], 'machine.css'), `/* ${touched} */\n`);
        return check(caches.warm);
      },
    };
    const seen = { floor: [], cold: [], changed: [] };
    // The first round warms the disk, and the cache of the changed machine; it does not count.
    for (let round = 0; round <= runs; round += 1) {
      for (const [figure, measure] of Object.entries(figures)) {
        const one = await measure();
        if (round > 0) seen[figure].push(one);
      }
    }
    return rowsOf(seen);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function rowsOf({ floor, cold, changed }) {
  const seconds = (figures) => median(figures.map(({ ms }) => ms)) / 1000;
  const peak = Math.max(...cold.map(({ kb }) => kb)) / 1024;
  // Each round's own ratio: what else the machine did then fell on both.
  const ratio = median(cold.map(({ ms }, n) => ms / floor[n].ms));
  const s = (value) => `${value.toFixed(2)} s`;
  return [
    { figure: 'parse every file once, in one thread (the floor)', value: s(seconds(floor)), bar: '', ok: true },
    {
      figure: 'check, 250 machines, cold cache',
      value: `${s(seconds(cold))}, ${ratio.toFixed(2)} of the floor`,
      bar: '0.65 of the floor',
      ok: ratio <= 0.65,
    },
    {
      figure: 'check, 250 machines, one changed',
      value: s(seconds(changed)),
      bar: '0.35 s',
      ok: seconds(changed) <= 0.35,
    },
    {
      figure: 'memory of check at 250 machines (peak)',
      value: `${peak.toFixed(0)} MB`,
      bar: '300 MB',
      ok: peak <= 300,
    },
  ];
}

/** A whole process: milliseconds from start to exit, and the most memory it held, in KB. */
function time(args, env, cwd) {
  const measured = [
    '--import',
    `data:text/javascript,process.on('exit',()=>process.stderr.write('peak '+process.resourceUsage().maxRSS))`,
  ];
  const startedAt = performance.now();
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [...measured, ...args], { env, cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    let told = '';
    child.stderr.on('data', (data) => {
      told += data;
    });
    child.on('error', fail);
    child.on('close', (code) => {
      const kb = Number(/peak (\d+)/.exec(told)?.[1]);
      if (code === 0 && kb > 0) done({ ms: performance.now() - startedAt, kb });
      else fail(new Error(`${args.join(' ')} exits ${code}: ${told}`));
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const runs = process.argv.includes('--runs') ? Number(process.argv[process.argv.indexOf('--runs') + 1]) : 5;
  for (const { figure, value, bar, ok } of [...(await benchCheck(runs)), ...(await benchProbe(runs))]) {
    console.log(`${figure.padEnd(50)} ${value.padEnd(50)} ${bar.padEnd(18)} ${ok ? 'ok' : 'over the bar'}`);
  }
}
