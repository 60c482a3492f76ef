import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtin } from '../../src/harness/builtin/harness.ts';
import { drive } from '../../src/harness/driver.ts';
import { type Relay, startRelay } from '../../src/harness/relay.ts';
import { selfTest } from '../../src/harness/self-test.ts';
import type { Harness, HarnessOutcome, HarnessRun } from '../../src/harness/types.ts';
import { zot } from '../../src/harness/zot.ts';
import { conversation, logPath, openSession } from '../../src/session/read.ts';
import { type Script, type ScriptedProvider, call, settle, startProvider } from '../helpers/provider.ts';
import { type Bench, makeBench, running } from './bench.ts';
import { workingSandboxes } from './sandboxes.ts';

/** One table of troubles for every harness, over real HTTP through the relay. The column of zot runs where ZOT_PATH names one. */

const KEY = 'provider-key-0123456789';
const binary = process.env.ZOT_PATH;

const USER = 'uucp';
const sandboxes = await workingSandboxes(USER);

let bench: Bench;
let provider: ScriptedProvider;
let relay: Relay;
const open: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  bench = await makeBench({ agentUser: USER });
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await bench.remove();
});

/** Drives a harness once against a script. */
async function drives(
  harness: Harness,
  script: Script,
  over: Partial<HarnessRun> = {},
  caps = {},
  signal = new AbortController().signal,
): Promise<HarnessOutcome> {
  provider = await startProvider(script, { token: KEY });
  relay = await startRelay({ upstream: { baseUrl: provider.baseUrl, key: KEY }, caps });
  open.push(provider, relay);
  const { baseUrl, token } = relay;
  const limits = { ...bench.run.limits, timeMs: 50_000, graceMs: 10_000 };
  const run = { ...bench.run, limits, model: { ...bench.run.model, baseUrl, token }, ...over };
  return drive(harness, run, { signal, secrets: [KEY] });
}

const log = (outcome: HarnessOutcome) => logPath(bench.run.sessions, outcome.session as string);

async function calls(outcome: HarnessOutcome): Promise<(string | undefined)[]> {
  const messages = await conversation(log(outcome));
  return messages.flatMap(({ activity }) => (activity?.kind === 'request' ? [activity.arguments] : []));
}

const table = (harness: Harness) => {
  it.each(sandboxes)('settles under sandbox %s, and its log tells provider and model', async (sandbox) => {
    const script = [call('write', { path: 'a.txt', content: 'made' }), settle('all done')];
    const outcome = await drives(harness, script, { sandbox });
    expect(outcome.result, await readFile(bench.run.agentLog, 'utf8')).toMatchObject({
      reason: 'settled',
      message: 'all done',
    });
    expect(await readFile(join(bench.run.checkout, 'a.txt'), 'utf8')).toContain('made');
    const { meta } = await openSession(log(outcome));
    expect(meta).toMatchObject({ provider: 'scripted', model: 'scripted-1', task: 'Do it.' });
    expect(relay.usage()).toMatchObject({ requests: 2, inputTokens: 20, outputTokens: 10, estimated: 0 });
  });

  it('declares failure when the agent does', async () => {
    const outcome = await drives(harness, [call('failure', { reason: 'no way' })]);
    expect(outcome.result).toMatchObject({ reason: 'failed', message: 'no way' });
  });

  it('ends in error on a refused key, without trying on and on', async () => {
    const outcome = await drives(harness, [{ status: 401 }, { status: 401 }, { status: 401 }]);
    expect(outcome.result).toMatchObject({ reason: 'error', failure: { status: 401 } });
    expect(relay.lastFailure()).toMatchObject({ status: 401 });
    expect(provider.requests.length).toBeLessThan(3);
  });

  it('waits as long as a 429 says, and goes on', async () => {
    const outcome = await drives(harness, [{ status: 429, headers: { 'retry-after': '2' } }, settle()]);
    expect(outcome.result?.reason).toBe('settled');
    const [first, second] = provider.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1900);
  });

  it('tries again after a 500', async () => {
    expect((await drives(harness, [{ status: 500 }, settle()])).result?.reason).toBe('settled');
  });

  it('tries again after a stream that was cut', async () => {
    const outcome = await drives(harness, [{ text: 'half an ans', cut: true }, settle()]);
    expect(outcome.result?.reason).toBe('settled');
    expect(relay.usage().requests).toBe(2);
  });

  it('takes arguments that are not JSON, and a tool that is not there, as faults of the call', async () => {
    const broken = '{"path": "a';
    const script = [{ calls: [{ name: 'write', arguments: broken }] }, call('teleport', {}), settle()];
    expect((await drives(harness, script)).result?.reason).toBe('settled');
  });

  it('is cut at the cap with an error that says so', async () => {
    const look = call('list', { path: '.' });
    const outcome = await drives(harness, [look, look, settle()], {}, { tokens: 15 });
    expect(outcome.result?.reason).toBe('error');
    expect(provider.requests).toHaveLength(1);
    expect(relay.cap()).toBe('tokens');
  });

  it('records that it was aborted when it is told to stop, and its command is gone', async () => {
    const stop = new AbortController();
    const script: Script = [call('shell', { command: 'touch started; setsid sleep 4444', timeout: 100 })];
    const going = drives(harness, script, {}, {}, stop.signal);
    await expect
      .poll(() => stat(join(bench.run.checkout, 'started')).catch(() => null), { timeout: 20_000 })
      .toBeTruthy();
    stop.abort();
    expect(await going).toMatchObject({ cut: 'stop', result: { reason: 'aborted' } });
    expect(await running('sleep 4444')).toEqual([]);
  });

  it('continues a session of its own', async () => {
    const first = await drives(harness, [call('shell', { command: 'echo one' }), { status: 401 }]);
    await continues(first, harness);
  });

  it('hears of the findings when it is resumed with them', async () => {
    const first = await drives(harness, [settle('done too early')]);
    const findings = 'probe/alarm: the fault rings no alarm';
    const script = [call('shell', { command: 'cat .machinery/findings.md || true' }), settle('mended')];
    const second = await drives(harness, script, { resume: first.session as string, findings });
    expect(second.result).toMatchObject({ reason: 'settled', message: 'mended' });
    expect(JSON.stringify(provider.requests.at(-1)?.body.messages)).toContain(findings);
  });
};

async function continues(first: HarnessOutcome, harness: Harness): Promise<void> {
  const second = await drives(harness, [settle('continued')], { resume: first.session as string });
  expect(second.result, await readFile(bench.run.agentLog, 'utf8')).toMatchObject({
    reason: 'settled',
    message: 'continued',
  });
  expect(second.session).not.toBe(first.session);
  expect((await openSession(log(second))).meta.resumedFrom).toBe(first.session);
  expect(await calls(second)).toEqual(await calls(first));
  expect(JSON.stringify(provider.requests[0]?.body.messages)).toContain('echo one');
}

describe('builtin', () => {
  table(builtin);

  it('passes the self-test: an image that it views arrives at the model', async () => {
    expect(await selfTest(builtin)).toMatchObject({ images: true });
  });
});

describe.skipIf(!binary)('zot (needs ZOT_PATH)', () => {
  const external = zot(binary);
  table(external);

  it('is judged by the self-test', async () => {
    const seen = await selfTest(external);
    console.info(`self-test of zot ${await external.version()}: ${seen.told}`);
    expect(seen.told).toMatch(/arrive/);
  });

  const picture = async () => {
    const red = { create: { width: 40, height: 30, channels: 3 as const, background: 'red' } };
    await writeFile(join(bench.run.checkout, 'red.png'), await sharp(red).png().toBuffer());
    return [call('shell', { command: 'echo one' }), call('view', { path: 'red.png' }), { status: 401 }];
  };

  it('continues a log that builtin wrote, images and all', async () => {
    await continues(await drives(builtin, await picture()), external);
  });

  it('writes a log that builtin continues, images and all', async () => {
    const first = await drives(external, await picture());
    await continues(first, builtin);
    expect(JSON.stringify(provider.requests[0]?.body.messages)).toContain('data:image/png;base64,');
  });
});
