// The control room on a full factory: server time of every page with 1,000 shifts and 500 rows on disk, and a live log with
// 200 followers: that none loses a line, also when it is cut off and comes back, and what the server's memory does. The
// floor of a page is a bare HTTP server that answers with as many constant bytes.
import { fork } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROWS, SHIFTS, fill, idOf, logLine, recordOf, redShifts } from './console-data.mjs';

const FOLLOWERS = 200;
/** So many of them are cut off once and go on by the id of their last line. */
const CUT = 50;
/** `--lines N`: how many lines the log grows by. */
const at = process.argv.indexOf('--lines');
const LINES = at === -1 ? 4000 : Number(process.argv[at + 1]);
/** The bar for the median of a page's server time, in milliseconds. */
const BAR_MS = 100;
/** What the heap may grow by while the log grows, in MB: noise of the collector, and nothing a line or a follower. */
const BAR_MB = 8;
const TIMES = 15;

const root = mkdtempSync(join(tmpdir(), 'bench-console-'));
const data = join(root, '.machinery');

function startServer() {
  const file = join(dirname(fileURLToPath(import.meta.url)), 'console-server.mjs');
  const child = fork(file, [root], { execArgv: ['--expose-gc'] });
  const answer = (key) =>
    new Promise((resolve) => {
      const listen = (message) => {
        if (!(key in message)) return;
        child.off('message', listen);
        resolve(message[key]);
      };
      child.on('message', listen);
    });
  return {
    port: answer('port'),
    tell: (ask, more) => child.send({ ask, ...more }),
    memory() {
      const told = answer('memory');
      child.send({ ask: 'memory' });
      return told;
    },
    closed: new Promise((resolve) => child.once('exit', resolve)),
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

const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

async function medianOf(port, paths) {
  const answers = [];
  for (const path of paths) answers.push(await get(port, path));
  return { ...answers[0], ms: median(answers.map(({ ms }) => ms)) };
}

const often = (path) => new Array(TIMES).fill(path);

async function floorOf(bytes) {
  const page = Buffer.alloc(bytes, 'x');
  const server = createServer((_, answer) => answer.end(page));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { ms } = await medianOf(server.address().port, often('/'));
  server.close();
  server.closeAllConnections();
  return ms;
}

async function pages(port) {
  const [red, row, atWork] = [idOf(SHIFTS - 2), idOf(7), idOf(SHIFTS)];
  const asked = [
    ['/', often('/')],
    ['/shifts', often('/shifts')],
    ['/shifts, filtered', often('/shifts?verdict=red&text=land')],
    ['/shifts/<id>, its change not known yet', redShifts.map((id) => `/shifts/${id}`)],
    ['/shifts/<id>', often(`/shifts/${red}`)],
    ['/shifts/<id>/log, a search', often(`/shifts/${red}/log?text=line`)],
    ['/shifts/<id>/conversation, 20 MB, at work', often(`/shifts/${atWork}/conversation`)],
    ['/rows', often('/rows')],
    ['/rows, filtered', often('/rows?tips=1&model=model-1')],
    ['/rows/<id>', often(`/rows/${row}`)],
    ['/rows/<id>/critiques', often(`/rows/${row}/critiques`)],
    ['/shelf/', often('/shelf/')],
    ['/sign-in', often('/sign-in')],
    ['/api/shifts', often('/api/shifts')],
  ];
  let good = true;
  for (const [name, paths] of asked) {
    const { ms, bytes, status } = await medianOf(port, paths);
    const floor = await floorOf(bytes);
    good &&= status === 200 && ms < BAR_MS;
    console.log(
      `${name.padEnd(42)} ${ms.toFixed(1).padStart(6)} ms  ${(ms / floor).toFixed(0).padStart(4)} x floor  ${Math.round(bytes / 1000)} kB${status === 200 ? '' : `  answered ${status}`}`,
    );
  }
  return good;
}

/** Follows the live log; every line must come once and in order. `cut()` ends the connection and comes back by the last id. */
function follow(port) {
  const follower = { next: 0, wrong: 0, cut: () => {}, stop: () => {} };
  let id = '';
  const connect = () => {
    const headers = id === '' ? {} : { 'last-event-id': id };
    let rest = '';
    const one = request({ host: '127.0.0.1', port, path: '/api/live', headers }, (answer) => {
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop();
        for (const block of blocks) {
          const [, place, n] = /^event: log\nid: (\S+)\n.*"text":"line (\d+) /s.exec(block) ?? [];
          if (place === undefined) continue;
          id = place;
          if (Number(n) !== follower.next) follower.wrong += 1;
          follower.next = Number(n) + 1;
        }
      });
      answer.on('error', () => {});
    });
    one.on('error', () => {});
    one.end();
    follower.stop = () => one.destroy();
  };
  follower.cut = () => {
    follower.stop();
    connect();
  };
  connect();
  return follower;
}

async function followers(server, port, record) {
  const log = join(data, 'shifts', record.id, 'log.ndjson');
  const all = Array.from({ length: FOLLOWERS }, () => follow(port));
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  await pause(1000);
  const memory = [await server.memory()];
  for (let n = 0; n < LINES; n += 1) {
    appendFileSync(log, logLine(n));
    if (n % 10 !== 9) continue;
    server.tell('tell');
    await pause(5);
    if (n === LINES / 2 - 1) for (const one of all.slice(0, CUT)) one.cut();
    if (n % (LINES / 4) === LINES / 4 - 1) memory.push(await server.memory());
  }
  const until = Date.now() + 60_000;
  while (all.some(({ next }) => next < LINES) && Date.now() < until) await pause(50);
  for (const one of all) one.stop();
  await pause(1000);
  memory.push(await server.memory());
  const lost = all.filter(({ next, wrong }) => next !== LINES || wrong > 0).length;
  const told = (key) => memory.map((each) => each[key].toFixed(0)).join(', ');
  const grown = memory.at(-2).heap - memory[1].heap;
  console.log(`${FOLLOWERS} followers of ${LINES} lines, ${CUT} of them cut off once: ${lost} lost or repeated a line`);
  console.log(
    `server alone, at the beginning, after each quarter, when they left: heap ${told('heap')} MB, rss ${told('rss')} MB`,
  );
  return lost === 0 && grown < BAR_MB;
}

function beginShift(server) {
  const record = recordOf(SHIFTS, { verdict: null, endedAt: null, session: null, chain: [], branch: 'shift/none' });
  const folder = join(data, 'shifts', record.id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'shift.json'), JSON.stringify(record));
  writeFileSync(join(folder, 'log.ndjson'), '');
  server.tell('begin', { record });
  return record;
}

let good = false;
try {
  await fill(root);
  const server = startServer();
  const port = await server.port;
  const first = await get(port, '/');
  console.log(`first page on ${SHIFTS} shifts and ${ROWS} rows, nothing in memory: ${first.ms.toFixed(0)} ms`);
  const record = beginShift(server);
  good = [await pages(port), await followers(server, port, record)].every(Boolean);
  server.tell('close');
  await server.closed;
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exitCode = good ? 0 : 1;
