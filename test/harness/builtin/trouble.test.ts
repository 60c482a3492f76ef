import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, TOKEN } from '../../helpers/agent.ts';
import { call, type Reply, settle } from '../../helpers/provider.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.make();
});
afterEach(() => bench.remove());

const kinds = (events: { kind: string }[], kind: string) => events.filter((event) => event.kind === kind).length;

describe('a provider in trouble', () => {
  const passing: [string, Reply][] = [
    ['a 429', { status: 429 }],
    ['a 500', { status: 500 }],
    ['a 503 that is no JSON', { status: 503, body: '<html>down</html>' }],
    ['a 408', { status: 408 }],
    ['a stream cut in the middle', { text: 'half an ans', cut: true }],
    ['a stream cut inside a call', { calls: [{ name: 'write', arguments: '{"path":"x","cont' }], cut: true }],
    ['a stream that ends without a finish', { text: 'half an ans', finish: null }],
    ['a connection dropped before any byte', { cut: true }],
    ['an answer that is no stream', { raw: '{"choices":[]}' }],
    ['a stream with a broken chunk', { raw: 'data: {"choices":[{"del\n\n' }],
    ['an error inside a stream', { raw: 'data: {"error":{"message":"upstream is gone","code":502}}\n\n' }],
    [
      "a gateway's 400 about the provider behind it",
      { status: 400, body: { error: { message: 'Provider returned error', metadata: { provider_name: 'Acme' } } } },
    ],
  ];
  it.each(passing)('is asked again after %s', async (_name, reply) => {
    const { result, events, messages, provider } = await bench.run([reply, call('list', { path: '.' }), settle()]);
    expect(result).toMatchObject({ reason: 'settled', iterations: 2, continuations: 1 });
    expect(kinds(events, 'retry')).toBe(1);
    expect(provider.requests).toHaveLength(3);
    // Nothing of the failed answer is in the conversation, and what is asked again is the same.
    expect(messages.map(({ activity, type }) => activity?.kind ?? type)).toEqual(['user', 'request', 'response']);
    expect(provider.requests[1]?.body).toEqual(provider.requests[0]?.body);
  });

  const final: [string, Reply, number][] = [
    ['401', { status: 401, body: { error: { message: `Incorrect key: ${TOKEN}` } } }, 401],
    ['402, a spent cap', { status: 402, body: { error: { message: 'the cap is spent' } } }, 402],
    ['403', { status: 403 }, 403],
    ['404', { status: 404, body: { error: { message: 'no such model' } } }, 404],
    ['a refused request', { status: 400, body: { error: { message: 'tools are not supported' } } }, 400],
  ];
  it.each(final)(
    'is not asked again after %s: the run ends with the failure recorded',
    async (_name, reply, status) => {
      const { result, lines, provider, told } = await bench.run([reply, settle()]);
      expect(provider.requests).toHaveLength(1);
      expect(result).toMatchObject({ reason: 'error', code: 1, failure: { status } });
      expect(result.failure?.request_bytes).toBe(JSON.stringify(provider.requests[0]?.body).length);
      expect(result.failure?.response_body).toContain('error');
      expect(result.error).toContain(String(status));
      expect(lines.at(-1)).toMatchObject({ kind: 'result', result: { reason: 'error', failure: { status } } });
      expect(JSON.stringify([lines, told])).not.toContain(TOKEN);
    },
  );

  it('waits as long as Retry-After says', async () => {
    const { provider, events } = await bench.run([{ status: 429, headers: { 'retry-after': '0.2' } }, settle()]);
    const [first, second] = provider.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(195);
    expect(events.find(({ kind }) => kind === 'retry')?.text).toContain('again in 0.2 s');
  });

  it('ends the run when it fails as often in a row as is allowed', async () => {
    const { result, provider } = await bench.run(Array(9).fill({ status: 500 }), { guards: { retries: 3 } });
    expect(provider.requests).toHaveLength(4);
    expect(result).toMatchObject({ reason: 'error', continuations: 3, failure: { status: 500 } });
  });

  it('ends the run when it fails too often over all, although it answers in between', async () => {
    const script = Array.from({ length: 6 }, (_, n) => [
      { status: 500 },
      call('plan', { steps: [`step ${n}`] }),
    ]).flat();
    const { result } = await bench.run(script, { guards: { retries: 2, allRetries: 4 } });
    expect(result).toMatchObject({ reason: 'error', continuations: 4, iterations: 5 });
  });

  it('counts failures in a row anew after a whole answer', async () => {
    const script = Array.from({ length: 4 }, (_, n) => [
      { status: 500 },
      call('plan', { steps: [`step ${n}`] }),
    ]).flat();
    const { result } = await bench.run([...script, settle()], { guards: { retries: 1 } });
    expect(result).toMatchObject({ reason: 'settled', continuations: 4 });
  });

  it('is given up on when it is silent for too long, and asked again', async () => {
    const { result, events } = await bench.run([{ text: 'hm', silent: true }, settle()], { guards: { idleMs: 150 } });
    expect(result).toMatchObject({ reason: 'settled', continuations: 1 });
    expect(events.find(({ kind }) => kind === 'retry')?.text).toContain('sent nothing');
  });

  it('is asked again when nothing listens at its address, then the run ends', async () => {
    const gone = await bench.provider([]);
    await gone.close();
    const { result } = await bench.run([], { model: { baseUrl: gone.baseUrl }, guards: { retries: 2 } });
    expect(result).toMatchObject({ reason: 'error', continuations: 2 });
    expect(result.error).toMatch(/connect/i);
  });

  it('gets the reasoning back once it says that it needs it', async () => {
    const needs = {
      status: 400,
      body: { error: { message: 'Missing `reasoning_content` field in the assistant message' } },
    };
    const { result, sent } = await bench.run([
      { reasoning: 'Look first.', calls: [{ name: 'list', arguments: { path: '.' } }] },
      needs,
      settle(),
    ]);
    expect(result.reason).toBe('settled');
    expect(JSON.stringify(sent(2))).not.toContain('Look first.');
    expect(sent(3).messages[2]).toMatchObject({ role: 'assistant', reasoning_content: 'Look first.' });
    expect(sent(3).messages[2].tool_calls).toHaveLength(1);
  });
});

describe('a model in trouble', () => {
  it('is told what is wrong with a call and goes on', async () => {
    const { result, answers, events } = await bench.run([
      call('write', '{"path": "a.txt", "content": "half'),
      call('wrte', { path: 'a.txt' }),
      call('read', { path: 'AGENTS.md', startLine: 'one', endLine: 3 }),
      call('write', { path: '../outside.txt', content: 'x' }),
      call('view', { path: 'AGENTS.md' }),
      call('success', {}),
      settle(),
    ]);
    expect(result).toMatchObject({ reason: 'settled', iterations: 7 });
    expect(answers.map(({ failure }) => failure)).toEqual([
      expect.stringContaining('the arguments are not JSON'),
      expect.stringContaining('there is no tool wrte'),
      expect.stringContaining('startLine'),
      expect.stringContaining('outside the checkout'),
      expect.stringContaining('is not a PNG'),
      expect.stringContaining('summary'),
    ]);
    expect(answers.every(({ result: given }) => given === undefined)).toBe(true);
    expect(kinds(events, 'toolCallError')).toBe(6);
  });

  it('is never sent broken arguments back, which a provider would refuse for ever; the log keeps them as they were', async () => {
    const broken = '{"path": "a.txt", "content": "half';
    const { sent, answers } = await bench.run([call('write', broken), settle()]);
    expect(answers[0]?.arguments).toBe(broken);
    expect(JSON.parse(sent(2).messages[2].tool_calls[0].function.arguments)).toEqual({ unreadable: broken });
  });

  it('is reminded to settle, and the run ends when that does not help', async () => {
    const { result, messages, events } = await bench.run(Array(9).fill({ text: 'I think it is done.' }), {
      guards: { settles: 2 },
    });
    expect(result).toMatchObject({ reason: 'unsettled', settles: 2, iterations: 3 });
    expect(messages.map(({ type }) => type)).toEqual(['user', 'bot', 'user', 'bot', 'user', 'bot']);
    expect(messages[2]?.text).toContain('Call success when the task is met');
    expect(kinds(events, 'notice')).toBe(2);
  });

  it('is nudged after empty turns, and the run ends when they do not stop', async () => {
    const { result } = await bench.run(Array(9).fill({}), { guards: { empties: 2 } });
    expect(result).toMatchObject({ reason: 'empty', iterations: 3 });
    const saved = await bench.run([{}, {}, call('list', { path: '.' }), {}, {}, settle()], { guards: { empties: 2 } });
    expect(saved.result.reason).toBe('settled');
  });

  it('is warned when it repeats the same calls with the same results, and the run ends when it goes on', async () => {
    const { result, messages } = await bench.run(Array(12).fill(call('list', { path: '.' })));
    expect(result).toMatchObject({ reason: 'cycle', cycles: 2, iterations: 5 });
    expect(messages.filter(({ type, text }) => type === 'user' && text.includes('same calls'))).toHaveLength(2);
  });

  it('may repeat a call whose result changes', async () => {
    const tick = call('shell', { command: 'echo x >> ticks; wc -l < ticks' });
    const { result } = await bench.run([...Array(6).fill(tick), settle()]);
    expect(result).toMatchObject({ reason: 'settled', cycles: 0 });
  });

  it('makes no call of an answer that was cut off at the output limit, and is told to go in smaller pieces', async () => {
    const cut: Reply = {
      text: 'Writing.',
      calls: [{ name: 'write', arguments: '{"path":"a.css","content":"bo' }],
      finish: 'length',
    };
    const { result, messages, sent } = await bench.run([cut, settle()]);
    expect(result).toMatchObject({ reason: 'settled', continuations: 1 });
    expect(messages.map(({ type }) => type)).toEqual(['user', 'bot', 'user']);
    expect(sent(2).messages.at(-1).content).toContain('cut off');
    const never = await bench.run(Array(9).fill(cut), { guards: { retries: 2 } });
    expect(never.result).toMatchObject({ reason: 'continuations', continuations: 2 });
  });
});

describe('limits', () => {
  const steps = (n: number) => Array.from({ length: n }, (_, index) => call('plan', { steps: [`step ${index}`] }));

  it('are told at 50, 80 and 90 %, once each, and end the run', async () => {
    const { result, messages } = await bench.run(steps(12), { limits: { iterations: 10 } });
    expect(result).toMatchObject({ reason: 'iterations', iterations: 10, code: 1 });
    const told = messages.filter(({ text }) => text.startsWith('Notice:')).map(({ text }) => text.slice(0, 12));
    expect(told).toEqual(['Notice: 50 %', 'Notice: 80 %', 'Notice: 90 %']);
  });

  it('stand for calls and for tokens too', async () => {
    const calls = await bench.run(steps(9), { limits: { calls: 3 } });
    expect(calls.result).toMatchObject({ reason: 'calls', calls: 3 });
    const tokens = await bench.run(steps(9), { limits: { tokens: 40 } });
    expect(tokens.result).toMatchObject({ reason: 'error', error: expect.stringContaining('40 tokens') });
  });

  it('of dollars are told and end the run, where the provider says what it costs', async () => {
    const costly = steps(9).map((reply) => ({ ...reply, usage: { input: 10, output: 5, cost: 0.3 } }));
    const { result, messages } = await bench.run(costly, { limits: { dollars: 1 } });
    expect(result).toMatchObject({ reason: 'error', iterations: 4, error: expect.stringContaining('$1.00') });
    expect(messages.map(({ text }) => text).join('\n')).toMatch(/50 % of the dollars .*\$0\.60 of \$1\.00/);
  });

  it('of time ends a run in the middle of a command and of an answer', async () => {
    const command = await bench.run([call('shell', { command: 'sleep 600' })], { limits: { timeMs: 400 } });
    expect(command.result.reason).toBe('time');
    expect(command.answers[0]?.failure).toContain('ended with the run');
    const answer = await bench.run([{ text: 'hm', silent: true }], { limits: { timeMs: 300 } });
    expect(answer.result.reason).toBe('time');
    const waiting = await bench.run([{ status: 429, headers: { 'retry-after': '60' } }], { limits: { timeMs: 300 } });
    expect(waiting.result.reason).toBe('time');
  });
});

describe('a run that is stopped', () => {
  it('answers the calls that are left as interrupted, writes the round and ends as aborted', async () => {
    const stop = new AbortController();
    const ran = bench.run(
      [
        {
          text: 'Two things.',
          calls: [
            { name: 'shell', arguments: { command: 'touch started; sleep 600' } },
            { name: 'write', arguments: { path: 'never.txt', content: 'x' } },
          ],
        },
      ],
      { stop: stop.signal },
    );
    await expect.poll(() => bench.file('started').catch(() => null)).toBe('');
    stop.abort();
    const { result, answers, lines } = await ran;
    expect(result).toMatchObject({ reason: 'aborted', code: 1 });
    expect(answers.map(({ failure }) => failure)).toEqual([
      expect.stringContaining('ended with the run'),
      expect.stringContaining('interrupted'),
    ]);
    expect(lines.at(-1)).toMatchObject({ kind: 'result', result: { reason: 'aborted' } });
    await expect(bench.file('never.txt')).rejects.toThrow();
  });
});

describe('a log that cannot take something', () => {
  it('ends the run as an error with a mend, with everything before it in the log', async () => {
    await bench.put(
      'a.png',
      await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
        .png()
        .toBuffer(),
    );
    const { result, lines, messages } = await bench.run([
      call('shell', {
        command: 'for log in ../sessions/*.jsonl; do touch "$(dirname $log)/$(basename $log .jsonl).blobs"; done',
      }),
      call('view', { path: 'a.png' }),
      settle(),
    ]);
    expect(result).toMatchObject({ reason: 'error', code: 1, iterations: 2, error: expect.stringContaining('.blobs') });
    expect(result.message).toBeTruthy();
    expect(lines.at(-1)).toMatchObject({ kind: 'result', result: { reason: 'error' } });
    expect(messages.map(({ activity }) => activity?.name)).toEqual([undefined, 'shell', 'shell', 'view', 'view']);
  });
});
