import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { accountOf, asAgent } from '../../src/harness/confine/account.ts';
import { chooseSandbox, refuseUnconfined } from '../../src/harness/confine/choose.ts';
import { endStrays } from '../../src/harness/confine/strays.ts';
import { drive } from '../../src/harness/driver.ts';
import { markOf } from '../../src/harness/leftovers.ts';
import { startRelay } from '../../src/harness/relay.ts';
import { signalGroup, start } from '../../src/support/process.ts';
import { PACKAGE_ROOT } from '../../src/support/self.ts';
import { type Bench, alive, makeBench, running } from './bench.ts';
import { workingSandboxes } from './sandboxes.ts';

const USER = 'news';
const sandboxes = await workingSandboxes(USER);

let bench: Bench;
const open: (() => unknown)[] = [];
beforeEach(async () => {
  bench = await makeBench({ agentUser: USER });
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  await bench.remove();
});

/** Runs a shell script as a confined harness. @returns what it said. */
async function says(script: string): Promise<string> {
  await drive(bench.shell(script), bench.run, { signal: new AbortController().signal });
  return readFile(bench.run.agentLog, 'utf8');
}

const CANARY = 'CANARY-3f9a1c';

/** Plants secrets where an orchestrator has them. @returns the pid of a process with secrets in its environment. */
async function plant(): Promise<number> {
  const { data } = bench.run;
  const operator = join(bench.folder, 'operator');
  const files = {
    [join(data, 'console-token')]: 0o644,
    [join(data, 'line.git', 'config')]: 0o644,
    [join(data, 'dataset', 'row.jsonl')]: 0o600,
    [join(data, 'sessions', 'other', '20250101-000000.jsonl')]: 0o600,
    [join(operator, '.git-credentials')]: 0o600,
    [join(operator, '.netrc')]: 0o600,
  };
  for (const [file, mode] of Object.entries(files)) {
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, `token = ${CANARY}\n`);
    await chmod(file, mode);
  }
  const socket: Server = createServer((client) => client.end(`${CANARY}\n`)).listen(join(data, 'factory.sock'));
  open.push(() => new Promise((done) => socket.close(done)));
  const orchestrator = start('sleep', ['300'], { env: { PATH: '/usr/bin:/bin', HUB_TOKEN: CANARY }, stdio: 'ignore' });
  open.push(() => signalGroup(orchestrator.pid as number, 'SIGKILL'));
  return orchestrator.pid as number;
}

const HUNT = (folder: string, pid: number) => `
env
cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'
grep -rs . /proc/${pid}/root/etc/shadow /proc/${pid}/cwd/ 2>/dev/null | head -c 100000
grep -rsa ${CANARY.slice(0, 6)} '${folder}' '${homedir()}' /run /var/tmp 2>/dev/null
find '${folder}' 2>/dev/null
cat /etc/shadow /etc/gshadow
git config --list --show-origin; git config --system --list
node -e 'require("net").connect(process.argv[1]).on("data", d => console.log(String(d))).on("error", e => console.log(e.code))' '${folder}/data/factory.sock'
kill -9 ${pid}
for path in /usr/planted /etc/planted '${PACKAGE_ROOT}/planted' '${PACKAGE_ROOT}/dist/planted' '${folder}/data/planted' '${folder}/planted'; do
  echo planted > "$path"
done 2>/dev/null
sh -c 'was=$(cat /proc/sys/kernel/core_pattern) && echo "$was" > /proc/sys/kernel/core_pattern && printf "kernel %s" written' 2>/dev/null
umount /tmp 2>/dev/null; umount '${folder}/data' 2>/dev/null; mount -t tmpfs none /mnt 2>/dev/null
cat '${folder}/data/console-token' '${folder}/data/line.git/config' '${folder}/operator/.netrc'
echo hunted
`;

describe.each(sandboxes.filter((kind) => kind !== 'none'))('under sandbox %s', (sandbox) => {
  beforeEach(() => {
    bench.run.sandbox = sandbox;
  });

  it('an agent that hunts for secrets finds none, and plants nothing outside its own folders', async () => {
    const pid = await plant();
    const told = await says(HUNT(bench.folder, pid));
    expect(told).toContain('hunted');
    expect(told).not.toContain(CANARY);
    expect(told).not.toMatch(/^root:[^:]*:\d+:/m);
    expect(alive(pid)).toBe(true);
    expect(told).not.toContain('kernel written');
    const places = ['/usr', '/etc', PACKAGE_ROOT, join(PACKAGE_ROOT, 'dist'), bench.run.data, bench.folder];
    for (const place of places) expect(await readdir(place).catch(() => [])).not.toContain('planted');
  });

  it('an agent has no capability, and cannot get one back', async () => {
    const told = await says('cat /proc/self/status; id -u');
    expect(told).toMatch(/^CapEff:\s+0+$/m);
    expect(told).toMatch(/^CapPrm:\s+0+$/m);
    expect(told).toMatch(/^CapAmb:\s+0+$/m);
    expect(told).toMatch(/^NoNewPrivs:\s+1$/m);
  });

  it.runIf(sandbox === 'bwrap')('an agent gets no more memory for files than is given to it', async () => {
    const told = await says(`
      df -B1 --output=size,target /tmp /dev/shm
      for path in /dev/planted /etc/ssl/private/planted '${bench.run.data}/planted' /planted; do echo x > "$path" && echo planted; done
      echo y > /dev/shm/fine && cat /dev/shm/fine`);
    expect(told.match(/^ *1073741824 \/(tmp|dev\/shm)$/gm)).toHaveLength(2);
    expect(told).not.toMatch(/^planted$/m);
    expect(told).toMatch(/^y$/m);
  });

  it('an agent works in its own folders, and the orchestrator can read and remove what it wrote', async () => {
    await writeFile(join(bench.run.checkout, 'given.txt'), 'given');
    const told = await says(`
      pwd; cat given.txt; echo; echo more >> given.txt
      mkdir -p shut/inner && echo secret > shut/inner/file && chmod 600 shut/inner/file && chmod 000 shut
      echo s > "$1/x"; echo t > "$2/y"; touch "$HOME/h" "$TMPDIR/t" && cat '${bench.run.order}'
      git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git status --short`);
    expect(told).toContain(`${bench.run.checkout}\ngiven\n`);
    expect(told).toContain('objective: Do it.');
    expect(told).toContain('?? given.txt');
    const shut = join(bench.run.checkout, 'shut');
    expect(await readFile(join(shut, 'inner', 'file'), 'utf8')).toBe('secret\n');
    expect((await stat(shut)).mode & 0o700).toBe(0o700);
    if (sandbox === 'user') expect((await stat(join(shut, 'inner', 'file'))).mode & 0o060).toBe(0o060);
    expect((await stat(bench.run.data)).mode & 0o777).toBe(0o700);
  });

  it('a second run works on what the first left', async () => {
    await says('mkdir -m 700 mine; echo one > mine/file; chmod 600 mine/file');
    expect(await says('cat mine/file; echo two > mine/file; cat mine/file')).toBe('one\ntwo\n');
  });

  it('an agent reaches the relay, with its token only', async () => {
    const relay = await startRelay({ upstream: { baseUrl: 'http://127.0.0.1:1/v1' }, caps: {} });
    open.push(() => relay.close());
    const program = (token: string) =>
      `node -e 'fetch("${relay.baseUrl}/models", {headers: {authorization: "Bearer ${token}"}}).then(r => console.log(r.status))'`;
    expect(await says(`${program(relay.token)}; ${program('guess')}`)).toBe('502\n401\n');
  });

  it('Chromium starts and takes a screenshot', async () => {
    const chromium = await findChromium();
    const program = `
      const { chromium } = require('${PACKAGE_ROOT}/node_modules/playwright-core');
      chromium.launch({ executablePath: '${chromium}', args: ['--no-sandbox', '--disable-dev-shm-usage'] })
        .then(async (browser) => {
          const page = await browser.newPage();
          await page.setContent('<h1>lit</h1>');
          await page.screenshot({ path: 'shot.png' });
          await browser.close();
        })
        .catch((error) => { console.log(error); process.exit(1); });`;
    const outcome = await drive(bench.node(program), bench.run, { signal: new AbortController().signal });
    expect(outcome.exitCode, await readFile(bench.run.agentLog, 'utf8')).toBe(0);
    expect((await stat(join(bench.run.checkout, 'shot.png'))).size).toBeGreaterThan(500);
  });
});

it.skipIf(!sandboxes.includes('user'))('the next start ends what a dead orchestrator left of either kind', async () => {
  const marked = start('sleep', ['302'], {
    env: { PATH: '/usr/bin:/bin', MACHINERY_SHIFT: markOf('20260101-000000', bench.run.data) },
    stdio: 'ignore',
  }).pid as number;
  const line = asAgent(await accountOf(USER), ['env', '-i', '/bin/sleep', '303']);
  const bare = start(line.file, line.args, { cwd: '/', stdio: 'ignore' }).pid as number;
  open.push(() => [marked, bare].map((pid) => signalGroup(pid, 'SIGKILL')));
  await expect.poll(() => running('/bin/sleep 303')).toEqual([bare]);
  expect(await endStrays(bench.run.data, USER)).toEqual({ ended: 1, trouble: null });
  expect([marked, bare].map(alive)).toEqual([false, false]);
});

describe('choosing a confinement', () => {
  it('takes the first that works, and says why', async () => {
    const choice = await chooseSandbox('auto', { data: bench.run.data, user: USER });
    expect(choice.kind).toBe((['bwrap', 'user', 'none'] as const).find((kind) => sandboxes.includes(kind)));
    expect(choice.why).not.toBe('');
  });

  it('takes none only by name, or for want of another', async () => {
    const choice = await chooseSandbox('none', { data: bench.run.data, user: USER });
    expect(choice).toEqual({ kind: 'none', why: 'the configuration asks for none' });
  });

  it.each(['no-such-user-here', 'root'])('refuses `user` with the user %s', async (user) => {
    await expect(chooseSandbox('user', { data: bench.run.data, user })).rejects.toMatchObject({
      code: 'sandbox/unavailable',
      message: expect.stringContaining(user),
    });
  });

  it('refuses a real model unconfined, unless the configuration says so by name', () => {
    expect(() => refuseUnconfined('none', 'openrouter', 'auto')).toThrow(/openrouter would run without one/);
    expect(() => refuseUnconfined('none', 'openrouter', 'none')).not.toThrow();
    expect(() => refuseUnconfined('none', 'rehearsal', 'auto')).not.toThrow();
    expect(() => refuseUnconfined('bwrap', 'openrouter', 'auto')).not.toThrow();
  });
});
