// The control room on a full factory: server time of every page with 1,000 shifts and 500 rows on disk, and a live log with
// 200 followers: that none loses a line, and what the memory does. The floor of a page is a bare HTTP server that answers
// with as many constant bytes.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../dist/config/load.js';
import { startConsole } from '../dist/console/server.js';

const SHIFTS = 1000;
const ROWS = 500;
const FOLLOWERS = 200;
const LINES = 2000;
/** The bar for the median of a page's server time, in milliseconds. */
const BAR_MS = 100;

const root = mkdtempSync(join(tmpdir(), 'bench-console-'));
const data = join(root, '.machinery');
const idOf = (n) =>
  new Date(Date.UTC(2026, 0, 1) + n * 1_800_000).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
const at = (n, minutes = 0) => new Date(Date.UTC(2026, 0, 1) + n * 1_800_000 + minutes * 60_000).toISOString();
const VERDICTS = ['green', 'green', 'green', 'red', 'idle'];
const STATIONS = ['staff', 'open', 'work', 'check', 'probe', 'scope', 'land', 'export', 'ship', 'report'];

function recordOf(n, differs = {}) {
  return {
    ...{
      id: idOf(n),
      factory: 'bench',
      verdict: VERDICTS[n % 5],
      reason: 'a machine landed',
      startedAt: at(n),
      endedAt: at(n, 20),
    },
    ...{
      worker: { pid: 1, host: 'bench' },
      order: { title: 'A new machine', sha256: 'a'.repeat(64) },
      harness: 'builtin',
    },
    ...{
      harnessVersion: '1',
      harnessWhy: 'asked for',
      sandbox: 'bwrap',
      provider: 'bench',
      model: 'bench',
      session: idOf(n),
    },
    ...{
      chain: [idOf(n)],
      outcome: 'settled',
      branch: `shift/${idOf(n)}`,
      continued: 0,
      base: 'b'.repeat(40),
      commit: 'c'.repeat(40),
    },
    ...{
      machine: `machine-${n}`,
      usage: { requests: 40, inputTokens: 900_000, outputTokens: 60_000, dollars: 1 + (n % 7) / 3 },
    },
    findings: n % 5 === 3 ? { 'layout/phone': 2 } : {},
    stations: STATIONS.map((name) => ({
      name,
      attempt: 1,
      status: 'ok',
      startedAt: at(n),
      durationMs: 60_000,
      summary: 'it went well',
    })),
    ...differs,
  };
}

function fill() {
  writeFileSync(join(root, 'factory.yaml'), '');
  mkdirSync(join(root, 'site'));
  writeFileSync(join(root, 'site', 'machines.json'), '[]\n');
  writeFileSync(join(root, 'site', 'index.html'), '<!doctype html><title>Shelf</title>');
  const finding = { rule: 'layout/phone', severity: 'error', machine: 'm', message: 'the panel is 412 px wide at 390' };
  for (let n = 0; n < SHIFTS; n += 1) {
    const folder = join(data, 'shifts', idOf(n));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'shift.json'), JSON.stringify(recordOf(n), null, 2));
    writeFileSync(join(folder, 'log.ndjson'), Array.from({ length: 400 }, (_, l) => logLine(l)).join(''));
    if (n % 5 === 3)
      writeFileSync(
        join(folder, 'probe.json'),
        JSON.stringify({ gate: 'probe', ok: false, machines: ['m'], durationMs: 1, findings: [finding, finding] }),
      );
  }
  for (let n = 0; n < ROWS; n += 1) fillRow(n);
}

const logLine = (l) =>
  `${JSON.stringify({ level: 20, time: at(0), activity: 'say', msg: `line ${l} ${'.'.repeat(100)}` })}\n`;

function fillRow(n) {
  const id = idOf(n);
  const messages = Array.from({ length: 120 }, (_, m) => ({
    role: m % 2 ? 'assistant' : 'user',
    type: m % 2 ? 'bot' : 'user',
    content: `turn ${m} ${'word '.repeat(200)}`,
  }));
  const row = {
    id,
    chain: [id],
    task: 't',
    model: `model-${n % 3}`,
    provider: 'p',
    driver: 'd',
    started: at(n),
    ended: at(n, 20),
    outcome: { reason: 'settled' },
    complete: true,
    messages,
  };
  const folder = join(data, 'dataset', 'trajectories', id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.jsonl`), `${JSON.stringify(row)}\n`);
}

function quietFactory() {
  const listeners = new Set();
  let current = null;
  return {
    tell: (event) => {
      for (const listen of listeners) listen(event);
    },
    begin: (record) => {
      current = { by: 'bench', since: record.startedAt, record, activity: null };
    },
    status: () => ({
      pid: 1,
      host: 'bench',
      version: '0',
      startedAt: at(0),
      state: current ? 'working' : 'waiting',
      paused: null,
      current,
      queued: null,
      coalesced: 0,
      nextTick: null,
    }),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const get = (port, path) =>
  new Promise((resolve, reject) => {
    const started = performance.now();
    request({ host: '127.0.0.1', port, path }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk) => {
        bytes += chunk.length;
      });
      answer.on('end', () => resolve({ ms: performance.now() - started, bytes, status: answer.statusCode }));
    })
      .on('error', reject)
      .end();
  });

const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

async function medianOf(port, path) {
  const answers = [];
  for (let n = 0; n < 15; n += 1) answers.push(await get(port, path));
  return { ...answers[0], ms: median(answers.map(({ ms }) => ms)) };
}

async function floorOf(bytes) {
  const page = Buffer.alloc(bytes, 'x');
  const server = createServer((_, answer) => answer.end(page));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { ms } = await medianOf(server.address().port, '/');
  server.close();
  server.closeAllConnections();
  return ms;
}

async function pages(port) {
  const [red, row] = [idOf(SHIFTS - 2), idOf(7)];
  let good = true;
  for (const path of [
    '/',
    '/shifts',
    '/shifts?verdict=red&text=land',
    `/shifts/${red}`,
    `/shifts/${red}/log?text=line`,
    '/rows',
    '/rows?tips=1&model=model-1',
    `/rows/${row}`,
    `/rows/${row}/critiques`,
    '/api/shifts',
  ]) {
    const { ms, bytes, status } = await medianOf(port, path);
    const floor = await floorOf(bytes);
    good &&= status === 200 && ms < BAR_MS;
    console.log(
      `${path.padEnd(34)} ${ms.toFixed(1).padStart(7)} ms  ${(ms / floor).toFixed(0).padStart(4)} x floor  ${Math.round(bytes / 1000)} kB`,
    );
  }
  return good;
}

async function followers(port, factory) {
  const record = recordOf(SHIFTS, { verdict: null, endedAt: null });
  const folder = join(data, 'shifts', record.id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'shift.json'), JSON.stringify(record));
  writeFileSync(join(folder, 'log.ndjson'), '');
  factory.begin(record);
  const counts = new Array(FOLLOWERS).fill(0);
  const asked = counts.map((_, n) => {
    const one = request({ host: '127.0.0.1', port, path: '/api/live' }, (answer) => {
      answer.setEncoding('utf8');
      let rest = '';
      answer.on('data', (chunk) => {
        const parts = (rest + chunk).split('event: log\n');
        counts[n] += parts.length - 1;
        rest = parts.at(-1).slice(-'event: log'.length);
      });
      answer.on('error', () => {});
    });
    one.on('error', () => {});
    one.end();
    return one;
  });
  await new Promise((done) => setTimeout(done, 1000));
  globalThis.gc?.();
  const memory = [];
  const look = () => {
    globalThis.gc?.();
    memory.push(Math.round(process.memoryUsage().heapUsed / 1e6));
  };
  look();
  for (let n = 0; n < LINES; n += 1) {
    appendFileSync(join(folder, 'log.ndjson'), logLine(n));
    if (n % 10 !== 9) continue;
    factory.tell({ type: 'activity' });
    await new Promise((done) => setTimeout(done, 5));
    if (n % (LINES / 4) === LINES / 4 - 1) look();
  }
  const until = Date.now() + 60_000;
  while (counts.some((count) => count < LINES) && Date.now() < until) await new Promise((done) => setTimeout(done, 50));
  for (const one of asked) one.destroy();
  const lost = counts.filter((count) => count !== LINES).length;
  console.log(
    `${FOLLOWERS} followers of ${LINES} lines: ${lost} missed or repeated one; heap ${memory.join(', ')} MB at the beginning and after each quarter (readers included; exact with node --expose-gc)`,
  );
  return lost === 0;
}

let good = false;
try {
  fill();
  const config = await loadConfig({ cwd: root, env: {}, flags: { 'console.port': 0 } });
  const factory = quietFactory();
  const room = await startConsole({ config, factory });
  const port = Number(new URL(room.url).port);
  const first = await get(port, '/');
  console.log(`first page on ${SHIFTS} shifts and ${ROWS} rows, nothing in memory: ${first.ms.toFixed(0)} ms`);
  good = (await pages(port)) & (await followers(port, factory));
  await room.close();
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exitCode = good ? 0 : 1;
