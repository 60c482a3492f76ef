import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { drive } from '../../src/harness/driver.ts';
import { type Relay, startRelay } from '../../src/harness/relay.ts';
import { selfTest } from '../../src/harness/self-test.ts';
import type { HarnessOutcome, HarnessRun } from '../../src/harness/types.ts';
import { zot, zotConfig } from '../../src/harness/zot.ts';
import { conversation, logPath, openSession } from '../../src/session/read.ts';
import { type Script, type ScriptedProvider, call, settle, startProvider } from '../helpers/provider.ts';
import { type Bench, makeBench } from './bench.ts';
import { sandboxes } from './sandboxes.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await makeBench();
});
afterEach(() => bench.remove());

async function fakeZot(help: string): Promise<string> {
  const file = join(bench.folder, 'zot');
  const script = `#!/bin/sh\ncase "$1" in --version) echo 'zot 0.17.1 (release)';; --help) echo '${help}' >&2; exit 2;; esac\n`;
  await writeFile(file, script, { mode: 0o755 });
  return file;
}

describe('the zot harness', () => {
  it('tells the version of the binary', async () => {
    const path = await fakeZot('--session-dir --records-dir --rerun --fresh --resume');
    expect(await zot(path).version()).toBe('0.17.1');
  });

  it('refuses a binary that lacks an option the factory needs, by name', async () => {
    const path = await fakeZot('--session-dir --fresh --resume');
    await expect(zot(path).version()).rejects.toMatchObject({
      code: 'harness/too-old',
      message: expect.stringContaining('--records-dir, --rerun'),
    });
  });

  it('says so when there is none', async () => {
    await expect(zot('/nowhere/zot').version()).rejects.toMatchObject({ code: 'harness/cannot-start' });
  });

  it('names the provider after the real one, at the address of the relay, and writes no token down', () => {
    const text = zotConfig(bench.run);
    expect(text).not.toContain(bench.run.model.token);
    expect(parse(text)).toMatchObject({
      default_provider: 'scripted',
      providers: {
        scripted: {
          driver: 'custom',
          base_url: 'http://127.0.0.1:9/v1',
          api_key: '$MACHINERY_RELAY_TOKEN',
          models: { line: { model: 'scripted-1', vision: true, context: 32_768 } },
        },
      },
    });
  });

  it('starts a fresh run on the order, and continues a session without one', async () => {
    const fresh = await zot('/bin/zot').command(bench.run);
    expect(fresh.args.slice(-2)).toEqual(['--fresh', bench.run.order]);
    const on = await zot('/bin/zot').command({ ...bench.run, resume: '20260101-000000' });
    expect(on.args.slice(-2)).toEqual(['--resume', '20260101-000000']);
    expect(on.args.join(' ')).not.toContain(bench.run.model.token);
  });

  it('leaves findings in the checkout without following a link there, and takes old ones away', async () => {
    const elsewhere = join(bench.folder, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'findings.md'), 'mine');
    await symlink(elsewhere, join(bench.run.checkout, '.machinery'));
    await zot('/bin/zot').command({ ...bench.run, findings: 'probe/alarm: mend it' });
    expect(await readFile(join(elsewhere, 'findings.md'), 'utf8')).toBe('mine');
    const file = join(bench.run.checkout, '.machinery', 'findings.md');
    expect(await readFile(file, 'utf8')).toBe('probe/alarm: mend it');
    await zot('/bin/zot').command(bench.run);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

const binary = process.env.ZOT_PATH;

describe.skipIf(!binary)('a real zot (skipped where ZOT_PATH names none)', () => {
  let provider: ScriptedProvider;
  let relay: Relay;
  afterEach(async () => {
    await relay?.close();
    await provider?.close();
  });

  async function drives(script: Script, over: Partial<HarnessRun> = {}): Promise<HarnessOutcome> {
    provider = await startProvider(script, { token: 'provider-key-0123456789' });
    relay = await startRelay({
      upstream: { baseUrl: provider.baseUrl, key: 'provider-key-0123456789' },
      caps: {},
    });
    const { baseUrl, token } = relay;
    const model = { ...bench.run.model, baseUrl, token };
    return drive(zot(binary), { ...bench.run, model, ...over }, { signal: new AbortController().signal });
  }

  it.each(sandboxes)('settles under sandbox %s, and its log tells provider and model', async (sandbox) => {
    const outcome = await drives([call('write', { path: 'a.txt', content: 'made' }), settle('all done')], { sandbox });
    expect(outcome.result).toMatchObject({ reason: 'settled', message: 'all done' });
    expect(await readFile(join(bench.run.checkout, 'a.txt'), 'utf8')).toContain('made');
    const { meta } = await openSession(logPath(bench.run.sessions, outcome.session as string));
    expect(meta).toMatchObject({ provider: 'scripted', model: 'scripted-1', task: 'Do it.' });
    expect(relay.usage()).toMatchObject({ requests: 2, inputTokens: 20, outputTokens: 10 });
  });

  it('ends in error on 401', async () => {
    const outcome = await drives([{ status: 401 }, { status: 401 }, { status: 401 }]);
    expect(outcome.result?.reason).toBe('error');
    expect(outcome.result?.failure?.status).toBe(401);
    expect(relay.lastFailure()).toMatchObject({ status: 401 });
  });

  it('waits as long as a 429 says and goes on', async () => {
    const outcome = await drives([{ status: 429, headers: { 'retry-after': '2' } }, settle()]);
    expect(outcome.result?.reason).toBe('settled');
    const [first, second] = provider.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1900);
  });

  it('tries again after a 500', async () => {
    expect((await drives([{ status: 500 }, settle()])).result?.reason).toBe('settled');
  });

  it('tries again after a stream that was cut', async () => {
    expect((await drives([{ text: 'half an ans', cut: true }, settle()])).result?.reason).toBe('settled');
    expect(relay.usage().requests).toBe(2);
  });

  it('takes arguments that are not JSON, and a tool that is not there, as faults of the call', async () => {
    const outcome = await drives([
      { calls: [{ name: 'write', arguments: '{"path": "a' }] },
      call('teleport', {}),
      settle(),
    ]);
    expect(outcome.result?.reason).toBe('settled');
  });

  it('is cut at the cap with an error that says so', async () => {
    provider = await startProvider([call('list', { path: '.' }), call('list', { path: '.' }), settle()]);
    relay = await startRelay({ upstream: { baseUrl: provider.baseUrl }, caps: { tokens: 15 } });
    const { baseUrl, token } = relay;
    const run = { ...bench.run, model: { ...bench.run.model, baseUrl, token } };
    const outcome = await drive(zot(binary), run, { signal: new AbortController().signal });
    expect(outcome.result?.reason).toBe('error');
    expect(provider.requests).toHaveLength(1);
    expect(relay.cap()).toBe('tokens');
  });

  it('records `aborted` at the time limit, and its command is gone', async () => {
    const script: Script = [call('shell', { command: 'setsid sleep 4444', timeout: 100 })];
    const limits = { timeMs: 3000, graceMs: 8000, iterations: 9 };
    const outcome = await drives(script, { limits });
    expect(outcome.cut).toBe('time');
    expect(['aborted', 'time']).toContain(outcome.result?.reason);
  });

  it('continues a session', async () => {
    const first = await drives([call('shell', { command: 'echo one' }), { status: 401 }]);
    expect(first.result?.reason).toBe('error');
    await relay.close();
    await provider.close();
    const second = await drives([settle('continued')], { resume: first.session as string });
    expect(second.result?.reason).toBe('settled');
    expect(second.session).not.toBe(first.session);
    const path = logPath(bench.run.sessions, second.session as string);
    expect((await openSession(path)).meta.resumedFrom).toBe(first.session);
    const calls = (await conversation(path)).filter(({ activity }) => activity?.kind === 'request');
    expect(calls[0]?.activity?.arguments).toBe('{"command":"echo one"}');
    expect(JSON.stringify(provider.requests[0]?.body.messages)).toContain('echo one');
  });

  it('is asked by the self-test whether images reach the model', async () => {
    const seen = await selfTest(zot(binary));
    console.info(`self-test of ${await zot(binary).version()}: ${seen.told}`);
    expect(seen.told).toMatch(/arrive/);
  });
});
