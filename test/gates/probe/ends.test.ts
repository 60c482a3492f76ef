import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createSocket } from 'node:dgram';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findChromium } from '../../../src/gates/probe/chromium.ts';
import { probe } from '../../../src/gates/probe/probe.ts';
import { MAIN, PACKAGE_ROOT } from '../../../src/support/self.ts';
import { goodMachine, writeShelf } from '../../helpers/machine.ts';

let folder: string;
let site: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'probe-ends-'));
  site = join(folder, 'site');
  const endless = goodMachine({ slug: 'endless' });
  endless.files['machine.js'] = 'for (;;);';
  await writeShelf(site, [endless, goodMachine()]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Living {
  command: string;
  group: number;
}

/** Every process but this one that lives: a dead one has no command line any more. */
async function living(): Promise<Living[]> {
  const found: Living[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (command) found.push({ command, group: Number(stat.slice(stat.lastIndexOf(')')).split(' ')[3]) });
  }
  return found;
}

/** Waits until a browser started with `text` on its command line shows a page. @returns its process group. */
async function shows(text: string): Promise<number> {
  for (;;) {
    const all = await living();
    const browser = all.find(({ command }) => command.includes('--disk-cache-dir=') && command.includes(text));
    const page = all.find(({ command, group }) => group === browser?.group && command.includes('--type=renderer'));
    if (page) return page.group;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Command lines of what is left of a browser. */
async function left(group: number): Promise<string[]> {
  return (await living()).filter((one) => one.group === group).map(({ command }) => command.replaceAll('\0', ' '));
}

it('leaves no process and no profile behind, also after a page that never ends', async () => {
  const mine = `machinery-probe-${process.pid}-`;
  const probing = probe({ site, slugs: ['endless'], out: folder, chromium: await findChromium(), cache: null });
  const [group, report] = await Promise.all([shows(mine), probing]);
  expect(report.findings.map(({ rule }) => rule)).toContain('run/hang');
  expect(report.durationMs).toBeLessThan(60_000);
  expect(await left(group)).toEqual([]);
  expect((await readdir(tmpdir())).filter((name) => name.startsWith(mine))).toEqual([]);
}, 120_000);

it('ends at once when it is aborted, and says why', async () => {
  const controller = new AbortController();
  const mine = `machinery-probe-${process.pid}-`;
  const running = probe({
    site,
    slugs: ['endless'],
    out: folder,
    chromium: await findChromium(),
    cache: null,
    signal: controller.signal,
  });
  const group = await shows(mine);
  controller.abort(new Error('the shift is over'));
  await expect(running).rejects.toThrow('the shift is over');
  expect(await left(group)).toEqual([]);
  expect((await readdir(tmpdir())).filter((name) => name.startsWith(mine))).toEqual([]);
}, 120_000);

const built = existsSync(MAIN);

it.runIf(built).each([
  { title: 'machinery probe', file: process.execPath, args: [MAIN, 'probe'] },
  { title: 'scripts/probe.js', file: process.execPath, args: [join(PACKAGE_ROOT, 'scripts', 'probe.js')] },
])(
  '$title leaves nothing behind when it gets SIGTERM',
  async ({ file, args }) => {
    const temp = await mkdtemp(join(folder, 'tmp-'));
    const child: ChildProcess = spawn(file, [...args, 'endless', '--site', site, '--out', join(temp, 'out')], {
      env: { PATH: '/usr/bin:/bin', TMPDIR: temp, CHROMIUM_PATH: await findChromium(), HOME: temp },
      stdio: 'ignore',
    });
    const ended = new Promise<number | null>((done) => child.once('exit', done));
    const group = await shows(temp);
    child.kill('SIGTERM');
    expect(await ended).toBe(143);
    expect(await left(group)).toEqual([]);
    expect((await readdir(temp)).filter((name) => name !== 'out')).toEqual([]);
  },
  120_000,
);

it.runIf(built)(
  'prints the report alone as JSON, exits 1 on an error, 2 on what it cannot run',
  async () => {
    const run = (args: string[], env: Record<string, string> = {}) => {
      try {
        const stdout = execFileSync(
          process.execPath,
          [MAIN, 'probe', '--site', site, '--out', join(folder, 'out'), ...args],
          {
            env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache'), ...env },
            stdio: ['ignore', 'pipe', 'pipe'],
            encoding: 'utf8',
          },
        );
        return { code: 0, stdout, stderr: '' };
      } catch (error) {
        const failed = error as { status: number; stdout: string; stderr: string };
        return { code: failed.status, stdout: failed.stdout, stderr: failed.stderr };
      }
    };
    const good = run(['--json']);
    expect(good.code, good.stderr).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({ gate: 'probe', ok: true, machines: [goodMachine().entry.slug] });
    expect(run(['nobody']).code).toBe(2);
    const none = run([], { CHROMIUM_PATH: '/nowhere/chromium' });
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('CHROMIUM_PATH');
  },
  180_000,
);

it('lets nothing out: no connection, no datagram, whatever the page tries', async () => {
  const heard: string[] = [];
  const tcp = createServer((socket) => {
    heard.push('tcp');
    socket.destroy();
  });
  const udp = createSocket('udp4', () => heard.push('udp'));
  await new Promise<void>((done) => tcp.listen(0, '127.0.0.1', done));
  await new Promise<void>((done) => udp.bind(0, '127.0.0.1', done));
  const port = (tcp.address() as { port: number }).port;
  const datagram = udp.address().port;
  const at = `127.0.0.1:${port}`;
  const machine = goodMachine({ slug: 'caller' });
  machine.files['index.html'] = machine.files['index.html'].replace(
    '</head>',
    `<link rel="preconnect" href="http://${at}"><link rel="dns-prefetch" href="//${at}"><link rel="prefetch" href="http://${at}/p">
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["http://${at}/s"]}]}</script></head>`,
  );
  machine.files['machine.js'] = `
for (const go of [
  () => fetch('http://${at}/f'), () => new WebSocket('ws://${at}/w'), () => new EventSource('http://${at}/e'),
  () => navigator.sendBeacon('http://${at}/b', 'x'), () => { new Image().src = 'http://${at}/i'; },
  () => new WebTransport('https://127.0.0.1:${datagram}/t'),
  () => new Worker(URL.createObjectURL(new Blob(["fetch('http://${at}/k'); new WebSocket('ws://${at}/kw')"]))),
  () => { const c = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${datagram}' }, { urls: 'turn:${at}?transport=tcp', username: 'u', credential: 'p' }] });
    c.createDataChannel('x'); c.createOffer().then((o) => c.setLocalDescription(o)); },
]) try { Promise.resolve(go()).catch(() => {}); } catch {}
${machine.files['machine.js']}`;
  const calling = join(folder, 'calling');
  await writeShelf(calling, [machine]);
  const { findings } = await probe({ site: calling, out: folder, chromium: await findChromium(), cache: null });
  expect(heard).toEqual([]);
  const told = findings
    .filter(({ rule }) => rule === 'run/external-request')
    .map(({ message }) => message)
    .join('\n');
  for (const path of ['/f', '/w', '/e', '/b', '/i', '/k']) expect(told).toContain(`${at}${path}`);
  tcp.close();
  udp.close();
}, 120_000);

it('sweeps away what a probe that was killed outright left behind', async () => {
  // No process has this id: it is past the largest the kernel gives.
  const dead = join(tmpdir(), 'machinery-probe-4194999-abcdef');
  await mkdir(join(dead, 'profile'), { recursive: true });
  await probe({
    site,
    slugs: [goodMachine().entry.slug],
    out: folder,
    chromium: await findChromium(),
    cache: null,
    shotsOnly: true,
  });
  expect(existsSync(dead)).toBe(false);
}, 120_000);
