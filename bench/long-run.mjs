// The long run. First `machinery start` as it is: how soon it is ready (bar 1 s), and its memory after an idle minute (bar
// 120 MB). Then a month of half-hourly ticks by a clock that is ours: the real factory, schedule, control room, metrics,
// webhooks and housekeeping, with shifts that leave all a shift leaves but take no time. Nothing may pile up: not memory,
// handles, open files, nor files in the data folder beyond what `retention` keeps.
//   node --expose-gc bench/long-run.mjs [days]
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

if (!globalThis.gc) {
  const { status } = spawnSync(
    process.execPath,
    ['--expose-gc', fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    {
      stdio: 'inherit',
    },
  );
  process.exit(status ?? 1);
}

const MAIN = new URL('../dist/cli/main.js', import.meta.url).pathname;
const DAYS = Number(process.argv[2] ?? 30);
/** What a steady state may still move by, between the first week's end and the last day. */
const SLACK = { heapMB: 3, handles: 2, fds: 2 };
const RETENTION = { shifts: 5, screenshots: 2, sessions: 3 };
const signed = (change) => `${change < 0 ? '' : '+'}${Number.isInteger(change) ? change : change.toFixed(1)}`;
const root = mkdtempSync(join(tmpdir(), 'machinery-bench-'));

try {
  await startUp(join(root, 'start'));
  await month(join(root, 'month'));
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exit();

function say(figure, value, bar, ok) {
  console.log(`  ${figure.padEnd(44)} ${String(value).padEnd(22)} ${bar}${ok ? '' : '   OVER'}`);
  if (!ok) process.exitCode = 1;
}

function makeFactory(folder, settings) {
  mkdirSync(join(folder, 'site'), { recursive: true });
  writeFileSync(join(folder, 'site', 'machines.json'), '[]\n');
  writeFileSync(join(folder, 'factory.yaml'), settings);
  const git = (...args) =>
    spawnSync('git', ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid', ...args], { cwd: folder });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'Begin');
}

async function startUp(folder) {
  makeFactory(folder, 'schedule: 0 0 1 1 *\nconsole: { port: 0 }\n');
  const times = [];
  for (let n = 0; n <= 5; n += 1) {
    const began = performance.now();
    const factory = spawn(process.execPath, [MAIN, 'start'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: factory.stdout }))
      if (line.includes('the control room is at')) break;
    if (n > 0) times.push(performance.now() - began); // the first warms the disk
    factory.stdout.resume();
    if (n === 5) {
      await sleep(60_000);
      const mb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${factory.pid}/status`, 'utf8'))?.[1]) / 1024;
      say('memory after an idle minute', `${mb.toFixed(0)} MB`, '120 MB', mb < 120);
    }
    factory.kill('SIGTERM');
    await once(factory, 'close');
  }
  const median = times.sort((a, b) => a - b)[2];
  say('ready, from the start of the process', `${(median / 1000).toFixed(2)} s`, '1 s', median < 1000);
}

/** Timers of a second and more wait for a clock that only `pass` moves; shorter ones are I/O's own and stay real. */
function ownClock(start) {
  const [RealDate, realSet, realClear, realNow] = [Date, setTimeout, clearTimeout, performance.now.bind(performance)];
  let now = start;
  const waiting = new Set();
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      super(...(args.length === 0 ? [now] : args));
    }
    static now = () => now;
  };
  performance.now = () => now - start;
  globalThis.setTimeout = (work, ms = 0, ...args) => {
    if (ms < 1000) return realSet(work, ms, ...args);
    const timer = { at: now + ms, work: () => work(...args), ref: () => timer, unref: () => timer, hasRef: () => true };
    waiting.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => (waiting.delete(timer) ? undefined : realClear(timer));
  return {
    waiting,
    realNow,
    /** Moves to the next timer that is due by then, and runs it. @returns whether there was one. */
    step(until) {
      const next = [...waiting].reduce((soonest, timer) => (soonest && soonest.at <= timer.at ? soonest : timer), null);
      if (next === null || next.at > until) {
        now = until;
        return false;
      }
      waiting.delete(next);
      now = Math.max(now, next.at);
      next.work();
      return true;
    },
  };
}

async function month(folder) {
  const { Factory } = await import('../dist/factory/factory.js');
  const { tidy } = await import('../dist/factory/housekeeping.js');
  const { createMetrics } = await import('../dist/factory/metrics.js');
  const { createNotifier } = await import('../dist/factory/notify.js');
  const { serveControl } = await import('../dist/factory/control.js');
  const { healthApp } = await import('../dist/console/health.js');
  const { startConsole } = await import('../dist/console/server.js');
  const { consoleToken } = await import('../dist/console/token.js');
  const { loadConfig } = await import('../dist/config/load.js');
  const { default: pino } = await import('pino');

  let told = 0;
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.end());
    told += 1;
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  makeFactory(
    folder,
    `console: { port: 0 }
retention: { shifts: ${RETENTION.shifts}d, screenshots: ${RETENTION.screenshots}d, sessions: ${RETENTION.sessions}d }
webhooks: ['http://127.0.0.1:${receiver.address().port}/hook']
`,
  );
  const config = await loadConfig({ cwd: folder, env: {} });
  const begin = Date.UTC(2026, 0, 1, 0, 10);
  const clock = ownClock(begin);
  const log = pino({ level: 'silent' });
  const token = await consoleToken(config);
  const factory = new Factory({
    config,
    log,
    work: workOf(config.data),
    between: async () => void (await tidy(config, log)),
  });
  await factory.start();
  const control = await serveControl(config.data, factory, log);
  const metrics = createMetrics(config, () => factory.status());
  const notifier = createNotifier(config, log);
  let shifts = 0;
  factory.listen((event) => {
    metrics.observe(event);
    notifier.observe(event);
    if (event.type === 'end') shifts += 1;
  });
  const room = await startConsole({ config, factory, mount: healthApp(factory, async () => metrics) });

  const idle = async () => {
    while (factory.status().state !== 'waiting') await sleep(1);
    await sleep(2);
  };
  const look = async () => {
    for (const path of ['/', '/shifts', '/rows', '/metrics', '/healthz', '/api/status']) {
      const response = await fetch(new URL(path, room.url), { headers: { authorization: `Bearer ${token}` } });
      await response.text();
    }
    const follower = new AbortController();
    const live = await fetch(new URL('/api/live', room.url), {
      headers: { authorization: `Bearer ${token}` },
      signal: follower.signal,
    }).catch(() => null);
    follower.abort();
    await live?.body?.cancel().catch(() => {});
  };

  const began = clock.realNow();
  const days = [];
  for (let day = 1; day <= DAYS; day += 1) {
    const until = begin + day * 86_400_000;
    while (clock.step(until)) if (factory.status().state !== 'waiting') await idle();
    await look();
    days.push(await standing(config.data));
  }
  const [week, last] = [days[Math.min(6, days.length - 2)], days.at(-1)];
  const seconds = ((clock.realNow() - began) / 1000).toFixed(0);
  console.log(`  ${DAYS} days: ${shifts} shifts, ${told} webhooks, in ${seconds} s`);
  const grown = (key) => last[key] - week[key];
  say('shifts that were worked', shifts, `${DAYS * 48}`, shifts === DAYS * 48);
  say(
    'heap after collection, since day 7',
    `${last.heapMB.toFixed(1)} MB, ${signed(grown('heapMB'))}`,
    `+${SLACK.heapMB} MB`,
    grown('heapMB') <= SLACK.heapMB,
  );
  say(
    'handles, since day 7',
    `${last.handles}, ${signed(grown('handles'))}`,
    `+${SLACK.handles}`,
    grown('handles') <= SLACK.handles,
  );
  say('open files, since day 7', `${last.fds}, ${signed(grown('fds'))}`, `+${SLACK.fds}`, grown('fds') <= SLACK.fds);
  say('timers that wait', clock.waiting.size, '4', clock.waiting.size <= 4);
  // The last day's shifts come on top of what is just not old enough to go.
  for (const [what, bar] of [
    ['shifts', RETENTION.shifts * 48 + 1],
    ['pictures', (RETENTION.screenshots * 48 + 1) * 3],
    ['sessions', RETENTION.sessions * 48 + 1],
    ['leftovers', 0],
  ])
    say(`files after retention: ${what}`, last[what], `${bar}`, last[what] <= bar);

  await room.close();
  await control.close();
  await notifier.close();
  await factory.stop();
  receiver.close();
}

/** What there is of everything that could pile up, once garbage is collected. */
async function standing(data) {
  for (let n = 0; n < 3; n += 1) {
    globalThis.gc();
    await sleep(20);
  }
  const list = (name) => (existsSync(join(data, name)) ? readdirSync(join(data, name)) : []);
  const pictures = list('shifts').flatMap((id) => list(join('shifts', id)).filter((name) => name.endsWith('.png')));
  const temporary = ['.', 'cache', 'dataset', 'dataset/trajectories', 'outbox']
    .flatMap(list)
    .filter((name) => /^\..+\.tmp$|\.lock$/.test(name));
  return {
    heapMB: process.memoryUsage().heapUsed / 1e6,
    handles: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length,
    fds: readdirSync('/proc/self/fd').length,
    shifts: list('shifts').length,
    pictures: pictures.length,
    sessions: list('sessions').length,
    leftovers: list('trees').length + list('scratch').length + temporary.length,
  };
}

/** Shifts in no time, with everything on disk that a shift leaves: record, logs, pictures, a session, its row. */
function workOf(data) {
  const STATIONS = ['staff', 'open', 'work', 'check', 'probe', 'scope', 'land', 'export', 'ship', 'report'];
  return async ({ watcher }) => {
    const { claimFolder } = await import('../dist/support/ids.js');
    const { layOut } = await import('../dist/shift/data-folder.js');
    const at = new Date();
    await layOut(data);
    const id = await claimFolder(join(data, 'shifts'), at);
    const folder = join(data, 'shifts', id);
    const verdict = Math.floor(at / 1_800_000) % 10 === 0 ? 'red' : 'green';
    const record = {
      ...{ id, factory: '0123456789ab', verdict: null, reason: '', startedAt: at.toISOString(), endedAt: null },
      ...{ worker: { pid: process.pid, host: 'bench' }, order: null, harness: 'builtin', harnessVersion: '0' },
      ...{ harnessWhy: null, sandbox: 'none', provider: 'rehearsal', model: 'rehearsal', session: id, chain: [id] },
      ...{
        outcome: 'settled',
        branch: `shift/${id}`,
        continued: 0,
        base: null,
        commit: null,
        machine: `machine-${id}`,
      },
      ...{ usage: { requests: 9, inputTokens: 9000, outputTokens: 900, dollars: 0.01 }, findings: { 'probe/x': 1 } },
      stations: [],
    };
    const write = () => writeFileSync(join(folder, 'shift.json'), JSON.stringify(record, null, 2));
    for (const name of STATIONS) {
      const station = { name, attempt: 1, status: null, startedAt: at.toISOString(), durationMs: 0, summary: '' };
      record.stations.push(station);
      write();
      watcher?.station?.(structuredClone(record), { ...station });
      if (name === 'work')
        for (let turn = 0; turn < 40; turn += 1)
          watcher?.activity?.({ at: at.toISOString(), kind: 'call', text: `turn ${turn} of ${id}` });
      Object.assign(station, { status: 'ok', durationMs: 1000, summary: `${name} of ${id}` });
      watcher?.station?.(structuredClone(record), { ...station });
    }
    for (const name of ['log.ndjson', 'agent.log']) writeFileSync(join(folder, name), `{"msg":"${id}"}\n`.repeat(200));
    for (const view of ['desktop', 'tablet', 'phone'])
      writeFileSync(join(folder, `m-${view}.png`), Buffer.alloc(20_000));
    const session = join(data, 'sessions', id);
    const row = join(data, 'dataset', 'trajectories', id);
    for (const each of [session, row]) {
      mkdirSync(each, { recursive: true });
      writeFileSync(join(each, `${id}.jsonl`), `${JSON.stringify({ id, messages: [] })}\n`);
    }
    utimesSync(join(session, `${id}.jsonl`), at, at);
    Object.assign(record, {
      verdict,
      reason: verdict === 'red' ? 'probe: 1 error' : 'landed',
      endedAt: at.toISOString(),
    });
    write();
    return record;
  };
}
