import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drive } from '../../src/harness/driver.ts';
import type { Activity, SandboxKind } from '../../src/harness/types.ts';
import { type Bench, META, SETTLED, line, makeBench, running } from './bench.ts';
import { workingSandboxes } from './sandboxes.ts';

const USER = 'games';
const sandboxes = await workingSandboxes(USER);

let bench: Bench;
beforeEach(async () => {
  bench = await makeBench({ agentUser: USER });
});
afterEach(() => bench.remove());

const watch = () => ({ signal: new AbortController().signal });
const log = (...lines: string[]) => `printf '%s\\n' ${lines.map((text) => `'${text}'`).join(' ')}`;
const WRITES = `${log(META, SETTLED)} > "$1/20260101-000000.jsonl"`;

describe.each(sandboxes)('a harness under sandbox %s', (sandbox: SandboxKind) => {
  const on = () => ({ ...bench.run, sandbox });

  it('is read by its log, not by its exit code', async () => {
    const outcome = await drive(bench.shell(`${WRITES}; exit 3`), on(), watch());
    expect(outcome).toMatchObject({ session: '20260101-000000', exitCode: 3, cut: null });
    expect(outcome.result?.reason).toBe('settled');
  });

  it('did not run when it wrote no log, even with exit code 0', async () => {
    const outcome = await drive(bench.shell('exit 0'), on(), watch());
    expect(outcome).toMatchObject({ session: null, result: null, exitCode: 0, cut: null });
  });

  it('is not credited with a log that was there before', async () => {
    await writeFile(join(bench.run.sessions, '20251231-000000.jsonl'), `${META}\n${SETTLED}\n`);
    expect(await drive(bench.shell('exit 0'), on(), watch())).toMatchObject({ session: null, result: null });
  });

  it('has no result when its log ends in a half-written line', async () => {
    const script = `${log(META)} > "$1/20260101-000000.jsonl"; printf '%s' '${SETTLED.slice(0, 60)}' >> "$1/20260101-000000.jsonl"`;
    const outcome = await drive(bench.shell(script), on(), watch());
    expect(outcome).toMatchObject({ session: '20260101-000000', result: null });
  });

  it('gets SIGTERM at its time limit and may still write its result', async () => {
    const script = `trap '${WRITES.replaceAll("'", `'\\''`)}; exit 1' TERM; echo ready; while :; do sleep 0.05; done`;
    const run = { ...on(), limits: { timeMs: 700, graceMs: 10_000, iterations: 1 } };
    const outcome = await drive(bench.shell(script), run, watch());
    expect(outcome).toMatchObject({ cut: 'time', session: '20260101-000000', exitCode: 1 });
    expect(outcome.durationMs).toBeLessThan(9000);
  });

  it('is killed after the grace when it ignores SIGTERM', async () => {
    const run = { ...on(), limits: { timeMs: 500, graceMs: 300, iterations: 1 } };
    const outcome = await drive(bench.shell(`trap '' TERM; while :; do sleep 0.05; done`), run, watch());
    expect(outcome).toMatchObject({ cut: 'time', signal: 'SIGKILL' });
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    const run = on();
    const going = drive(bench.shell(`${log(META)} > "$1/20260101-000000.jsonl"; sleep 60`), run, {
      signal: stop.signal,
      onActivity: () => {},
    });
    await appears(join(run.sessions, '20260101-000000.jsonl'));
    stop.abort();
    expect(await going).toMatchObject({ cut: 'stop', session: '20260101-000000', result: null });
  });

  it('leaves no process, though one forked away, ignored SIGTERM and kept the output open', async () => {
    const away = `setsid sh -c 'trap "" TERM HUP; echo \\$\\$; exec sleep 3333' &`;
    const bare = `setsid env -i sh -c 'exec sleep 3334' &`;
    const outcome = await drive(bench.shell(`${WRITES}; ${away} ${bare} sleep 0.3; exit 0`), on(), watch());
    expect(outcome.result?.reason).toBe('settled');
    expect(outcome.durationMs).toBeLessThan(15_000);
    expect(await running('sleep 3333')).toEqual([]);
    // Without a mark and a parent nothing proves whose a process is: only real confinement ends it.
    if (sandbox !== 'none') expect(await running('sleep 3334')).toEqual([]);
    else for (const pid of await running('sleep 3334')) process.kill(pid, 'SIGKILL');
  });

  it('gets an environment that is an allow-list, and none of the secrets', async () => {
    process.env.CANARY_SECRET = 'canary-0123456789';
    try {
      const run = { ...on(), env: { CHOSEN: 'yes', STOLEN: 'x canary-0123456789' } };
      await drive(bench.shell('env'), run, { ...watch(), secrets: ['canary-0123456789'] });
    } finally {
      Reflect.deleteProperty(process.env, 'CANARY_SECRET');
    }
    const told = await readFile(bench.run.agentLog, 'utf8');
    const names = told.split('\n').flatMap((text) => /^([A-Z_0-9]+)=/.exec(text)?.[1] ?? []);
    const allowed =
      /^(PATH|HOME|TMPDIR|LANG|LC_ALL|TZ|CHROMIUM_PATH|CHOSEN|MACHINERY_SHIFT|PWD|OLDPWD|SHLVL|_|GIT_CONFIG_.*)$/;
    expect(names.filter((name) => !allowed.test(name))).toEqual([]);
    expect(told).toContain('CHOSEN=yes');
    expect(told).not.toContain('canary');
  });
});

describe('the driver', () => {
  it('drains a flood of output and keeps no more than its share', async () => {
    const outcome = await drive(bench.shell(`head -c 90000000 /dev/zero | tr '\\0' x; ${WRITES}`), bench.run, watch());
    expect(outcome.result?.reason).toBe('settled');
    expect((await stat(bench.run.agentLog)).size).toBeLessThan(65 * 1024 * 1024);
  });

  it('keeps the token and the secrets out of the output, also across chunks', async () => {
    const script = `printf 'a relay-token-01'; sleep 0.2; printf '23456789 b canary-'; sleep 0.2; echo 'value-99 c'`;
    await drive(bench.shell(script), bench.run, { ...watch(), secrets: ['canary-value-99'] });
    expect(await readFile(bench.run.agentLog, 'utf8')).toBe('a [redacted] b [redacted] c\n');
  });

  it('goes on when the output cannot be written down', async () => {
    const run = { ...bench.run, agentLog: '/dev/full' };
    const outcome = await drive(bench.shell(`head -c 3000000 /dev/zero; ${WRITES}`), run, watch());
    expect(outcome.result?.reason).toBe('settled');
  });

  it('tells what the agent does while it does it', async () => {
    const said = line({ kind: 'message', message: { type: 'bot', text: 'I look at relay-token-0123456789\nfirst' } });
    const called = line({ kind: 'event', event: { kind: 'toolCallStart', tool: 'shell', text: '{"command":"ls"}' } });
    const script = `${log(META, said, called)} > "$1/20260101-000000.jsonl"; until [ -e "$2/go" ]; do sleep 0.05; done; ${log(SETTLED)} >> "$1/20260101-000000.jsonl"`;
    const heard: Activity[] = [];
    const outcome = await drive(bench.shell(script), bench.run, {
      ...watch(),
      onActivity: (activity) => {
        heard.push(activity);
        if (activity.kind === 'call') void writeFile(join(bench.run.scratch, 'go'), '');
      },
    });
    expect(outcome.result?.reason).toBe('settled');
    expect(heard.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'say: I look at [redacted] first',
      'call: shell {"command":"ls"}',
      'event: ended: settled',
    ]);
  });

  it('follows no link and waits for no pipe in the session folder', async () => {
    const secret = join(bench.folder, 'other.jsonl');
    await writeFile(secret, `${META}\n${SETTLED}\n`);
    const script = `ln -s '${secret}' "$1/20260101-000000.jsonl"; mkfifo "$1/20260101-000001.jsonl"`;
    expect(await drive(bench.shell(script), bench.run, watch())).toMatchObject({ session: null, result: null });
  });

  it('replaces a link that stands where its scratch folders belong', async () => {
    await symlink('/etc', join(bench.run.scratch, 'home'));
    await drive(bench.shell('cd "$HOME" && pwd -P'), bench.run, watch());
    expect(await readFile(bench.run.agentLog, 'utf8')).toBe(`${bench.run.scratch}/home\n`);
  });

  it('says so when the harness is not there', async () => {
    const harness = { ...bench.shell(''), command: async () => ({ file: '/nowhere/zot', args: [], env: {} }) };
    await expect(drive(harness, bench.run, watch())).rejects.toMatchObject({ code: 'harness/cannot-start' });
  });

  it('says so when the harness cannot be executed at all', async () => {
    const file = join(bench.folder, 'broken');
    await writeFile(file, '#!/nowhere/interpreter\n', { mode: 0o755 });
    const harness = { ...bench.shell(''), command: async () => ({ file, args: [], env: {} }) };
    await expect(drive(harness, bench.run, watch())).rejects.toMatchObject({ code: 'harness/cannot-start' });
  });

  it('starts nothing when it was stopped before', async () => {
    const outcome = await drive(bench.shell(WRITES), bench.run, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ session: null, cut: 'stop' });
  });

  it('takes the newest log when a run wrote several', async () => {
    const script = `${log(META)} > "$1/20260101-000000.jsonl"; ${WRITES.replace('000000.jsonl', '000000-2.jsonl')}`;
    expect(await drive(bench.shell(script), bench.run, watch())).toMatchObject({ session: '20260101-000000-2' });
  });
});

async function appears(path: string): Promise<void> {
  while (!(await stat(path).catch(() => null))?.size) await new Promise((done) => setTimeout(done, 20));
}
