// A full factory for the console bench: 1,000 shifts and 500 rows on disk, and a git dir in which some of them have a change.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../dist/config/load.js';
import { factoryId } from '../dist/shift/factory-id.js';
import { openLine } from '../dist/shift/open-line.js';

export const SHIFTS = 1000;
export const ROWS = 500;
/** Red shifts whose work waits on a branch, each with a machine of 100 KB. */
const BRANCHES = 15;
const STATIONS = ['staff', 'open', 'work', 'check', 'probe', 'scope', 'land', 'export', 'ship', 'report'];
const VERDICTS = ['green', 'green', 'green', 'red', 'idle'];

export const idOf = (n) =>
  new Date(Date.UTC(2026, 0, 1) + n * 1_800_000).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
const at = (n, minutes = 0) => new Date(Date.UTC(2026, 0, 1) + n * 1_800_000 + minutes * 60_000).toISOString();

/** The newest red shifts, whose change is in the git dir. */
export const redShifts = Array.from({ length: SHIFTS }, (_, n) => n)
  .filter((n) => n % 5 === 3)
  .slice(-BRANCHES)
  .map(idOf);

export function recordOf(n, differs = {}) {
  const id = idOf(n);
  return {
    ...{ id, factory: 'bench', verdict: VERDICTS[n % 5], reason: 'a machine landed', startedAt: at(n) },
    ...{ endedAt: at(n, 20), worker: { pid: 1, host: 'bench' } },
    ...{ order: { title: 'A new machine', sha256: 'a'.repeat(64) }, harness: 'builtin', harnessVersion: '1' },
    ...{ harnessWhy: 'asked for', sandbox: 'bwrap', provider: 'bench', model: 'bench', session: id, chain: [id] },
    ...{ outcome: 'settled', branch: `shift/${id}`, continued: 0, base: 'b'.repeat(40), commit: null },
    ...{ machine: `machine-${n}`, findings: n % 5 === 3 ? { 'layout/phone': 2 } : {} },
    usage: { requests: 40, inputTokens: 900_000, outputTokens: 60_000, dollars: 1 + (n % 7) / 3 },
    stations: STATIONS.map((name) => ({
      ...{ name, attempt: 1, status: 'ok', startedAt: at(n), durationMs: 60_000, summary: 'it went well' },
    })),
    ...differs,
  };
}

export const logLine = (l) =>
  `${JSON.stringify({ level: 20, time: at(0), activity: 'say', msg: `line ${l} ${'.'.repeat(100)}` })}\n`;

export async function fill(root) {
  const data = join(root, '.machinery');
  writeFileSync(join(root, 'factory.yaml'), 'origin: .\n');
  mkdirSync(join(root, 'site'));
  writeFileSync(join(root, 'site', 'machines.json'), '[]\n');
  writeFileSync(join(root, 'site', 'index.html'), '<!doctype html><title>Shelf</title>');
  const git = (...args) => execFileSync('git', args, { cwd: root });
  git('init', '-q', '-b', 'main');
  git('add', 'site', 'factory.yaml');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid', 'commit', '-q', '-m', 'Begin');
  const base = await fillBranches(root, data);
  for (let n = 0; n < SHIFTS; n += 1) fillShift(data, n, base);
  for (let n = 0; n < ROWS; n += 1) fillRow(data, n);
  fillSession(data);
}

async function fillBranches(root, data) {
  const config = await loadConfig({ cwd: root, env: {} });
  const line = await openLine({ config, factory: await factoryId(data) });
  const base = await line.fetch();
  for (const id of redShifts) {
    await line.newBranch(id, base);
    const folder = join(data, 'checkout', 'site', 'machines', `m-${id}`);
    mkdirSync(folder, { recursive: true });
    for (const name of ['index.html', 'machine.css', 'machine.js', 'manual.html'])
      writeFileSync(join(folder, name), `a line of ${name} of ${id}\n`.repeat(700));
    await line.snapshot({ shift: id, continued: 0 });
  }
  return base;
}

function fillShift(data, n, base) {
  const folder = join(data, 'shifts', idOf(n));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'shift.json'), JSON.stringify(recordOf(n, { base }), null, 2));
  writeFileSync(join(folder, 'log.ndjson'), Array.from({ length: 400 }, (_, l) => logLine(l)).join(''));
  if (n % 5 !== 3) return;
  const finding = { rule: 'layout/phone', severity: 'error', machine: 'm', message: 'the panel is 412 px wide at 390' };
  const report = { gate: 'probe', ok: false, machines: ['m'], durationMs: 1, findings: [finding, finding] };
  writeFileSync(join(folder, 'probe.json'), JSON.stringify(report));
}

function fillRow(data, n) {
  const id = idOf(n);
  const messages = Array.from({ length: 120 }, (_, m) => ({
    role: m % 2 ? 'assistant' : 'user',
    type: m % 2 ? 'bot' : 'user',
    content: `turn ${m} ${'word '.repeat(200)}`,
  }));
  const row = {
    ...{ id, chain: [id], task: 't', model: `model-${n % 3}`, provider: 'p', driver: 'd' },
    ...{ started: at(n), ended: at(n, 20), outcome: { reason: 'settled' }, complete: true, messages },
  };
  const folder = join(data, 'dataset', 'trajectories', id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.jsonl`), `${JSON.stringify(row)}\n`);
}

/** The session of the shift at work, 20 MB so far. */
function fillSession(data) {
  const id = idOf(SHIFTS);
  const folder = join(data, 'sessions', `open-${id}`);
  mkdirSync(folder, { recursive: true });
  const said = (n) => ({ type: n % 2 ? 'bot' : 'user', text: `turn ${n} ${'word '.repeat(1000)}` });
  const line = (n) => `${JSON.stringify({ kind: 'message', at: at(SHIFTS), message: said(n) })}\n`;
  writeFileSync(join(folder, `${id}.jsonl`), Array.from({ length: 4000 }, (_, n) => line(n)).join(''));
}
