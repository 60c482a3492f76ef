// A rehearsal shift in a factory of its own, with an empty shelf and with a full one: the whole of it (bar: 60 s on two
// cores), and the orchestrator's own part, which is everything but the harness and the three gates (bar: 3 s).
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextPiece, pieces } from '../dist/rehearsal/repertoire.js';
import { makeShelf, shelfEntries } from './shelf.mjs';

const MAIN = new URL('../dist/cli/main.js', import.meta.url).pathname;
const OTHERS = new Set(['work', 'check', 'probe', 'scope']);
const BARS = { whole: 60_000, own: 3000 };
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

const root = mkdtempSync(join(tmpdir(), 'machinery-bench-'));
try {
  for (const [name, entries] of [
    ['empty', []],
    ['full', await shelfWithRoom(2)],
  ]) {
    const factory = join(root, name);
    await makeFactory(factory, entries);
    // The first shift fetches all of main and fills the caches; what the second takes is what every later one takes.
    oneShift(factory);
    const { record, whole } = oneShift(factory);
    const spent = (names) => record.stations.filter(names).reduce((sum, { durationMs }) => sum + durationMs, 0);
    const own = whole - spent((station) => OTHERS.has(station.name));
    console.log(`  ${entries.length} machines on the shelf: ${record.verdict}`);
    console.log(`    whole shift, with start-up   ${seconds(whole)}   (bar ${seconds(BARS.whole)})`);
    console.log(`    orchestrator's own time      ${seconds(own)}   (bar ${seconds(BARS.own)})`);
    for (const { name: station, durationMs } of record.stations)
      console.log(`      ${station.padEnd(8)} ${seconds(durationMs)}`);
    if (record.verdict !== 'green' || whole > BARS.whole || own > BARS.own) process.exitCode = 1;
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** A full shelf, less those machines that leave no room for the first few of the rehearsal's. */
async function shelfWithRoom(few) {
  const wanted = (await pieces()).slice(0, few).map(({ entry }) => entry);
  const fits = async (entry) => {
    // nextPiece passes over what collides: the others of the shelf are its own pieces.
    for (const piece of wanted) {
      const others = (await pieces()).map((each) => each.entry).filter(({ slug }) => slug !== piece.slug);
      if ((await nextPiece([...others, entry]))?.entry.slug !== piece.slug) return false;
    }
    return true;
  };
  const kept = [];
  for (const entry of shelfEntries()) if (await fits(entry)) kept.push(entry);
  return kept;
}

async function makeFactory(folder, entries) {
  mkdirSync(folder);
  for (const part of ['AGENTS.md', 'orders', 'scripts', 'factory.yaml', '.gitignore'])
    cpSync(part, join(folder, part), { recursive: true });
  mkdirSync(join(folder, 'site'));
  writeFileSync(join(folder, 'site', 'machines.json'), '[]\n');
  await makeShelf(join(folder, 'site'), entries);
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid', ...args], { cwd: folder });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'Begin');
  git('gc', '-q');
}

function oneShift(cwd) {
  const began = performance.now();
  const stdio = ['ignore', 'pipe', 'inherit'];
  const record = JSON.parse(execFileSync(process.execPath, [MAIN, 'shift', '--json'], { cwd, stdio }));
  return { record, whole: performance.now() - began };
}
