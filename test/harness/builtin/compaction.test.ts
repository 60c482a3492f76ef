import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { divide, structural } from '../../../src/harness/builtin/compaction.ts';
import type { SessionMessage } from '../../../src/session/types.ts';
import { Bench } from '../../helpers/agent.ts';
import { call, type Reply, settle } from '../../helpers/provider.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.make();
});
afterEach(() => bench.remove());

/** Rounds that each put about 2,000 tokens into the conversation. */
const fill = (n: number): Reply[] =>
  Array.from({ length: n }, (_, index) => call('plan', { steps: [`step ${index}`], rationale: 'x'.repeat(4000) }));

const isSummary = ({ messages }: { messages: { role: string; content: unknown }[] }) =>
  messages.length === 1 && String(messages[0]?.content).includes('<record>');

const roles = (body: { messages: { role: string }[] }) => body.messages.map(({ role }) => role);

describe('a conversation that nears the context', () => {
  const model = { context: 20_000, vision: false };

  it('becomes a checkpoint written by the model and the newest rounds, in the log and on the wire', async () => {
    const script = [...fill(6), { text: 'The design is brass; two files are written.' }, settle('done')];
    const { result, lines, provider, events } = await bench.run(script, { model });
    expect(result.reason).toBe('settled');
    expect(events.filter(({ kind }) => kind === 'compact')).toHaveLength(1);
    const asked = provider.requests.map(({ body }) => body);
    const summary = asked.findIndex(isSummary);
    expect(summary).toBeGreaterThan(0);
    expect(asked[summary].tools).toBeUndefined();
    expect(asked[summary].messages[0].content).toContain('step 0');
    const reset = lines.findIndex(({ kind }) => kind === 'reset');
    const after = lines.slice(reset + 1).flatMap((line) => (line.kind === 'message' ? [line.message] : []));
    expect(after[0]).toEqual({ type: 'checkpoint', text: 'The design is brass; two files are written.' });
    expect(after[1]?.activity).toMatchObject({ kind: 'request', name: 'plan' });
    expect(after[2]?.activity).toMatchObject({ kind: 'response', id: after[1]?.activity?.id });
    const next = asked[summary + 1];
    // The task stays in the instructions; a user turn stands before the assistant's first.
    expect(next.messages[0].content).toContain('Build a tide table.');
    expect(roles(next).slice(0, 4)).toEqual(['system', 'system', 'user', 'assistant']);
    expect(next.messages.length).toBeLessThan(asked[summary - 1].messages.length);
  });

  it('is condensed without the model when that cannot write the summary', async () => {
    const { result, messages } = await bench.run([...fill(6), { status: 500 }, settle()], { model });
    expect(result).toMatchObject({ reason: 'settled', continuations: 0 });
    const checkpoint = messages.find(({ type }) => type === 'checkpoint');
    expect(checkpoint?.text).toContain('[call] plan');
    expect(checkpoint?.text.length).toBeLessThan(4000);
  });

  it('is shortened when the provider says it is too long, and the same turn is asked for again', async () => {
    const tooLong = {
      status: 400,
      body: { error: { message: "This model's maximum context length is 8192 tokens." } },
    };
    const { result, events, provider } = await bench.run([...fill(4), tooLong, settle()]);
    expect(result).toMatchObject({ reason: 'settled', continuations: 1, iterations: 5 });
    expect(events.map(({ kind }) => kind)).toContain('compact');
    expect(provider.requests[5]?.body.messages.length).toBeLessThan(provider.requests[4]?.body.messages.length);
  });

  it('ends the run when there is nothing left to shorten', async () => {
    const tooLong = { status: 413, body: 'context length exceeded' };
    const { result } = await bench.run(Array(9).fill(tooLong));
    expect(result).toMatchObject({ reason: 'error', failure: { status: 413 } });
  });

  it('is left alone when it is the newest round that is large: there is nothing to summarise', async () => {
    const large = call('plan', { steps: ['one'], rationale: 'x'.repeat(40_000) });
    const { result, events, provider } = await bench.run([large, settle()], { model });
    expect(result.reason).toBe('settled');
    expect(events.map(({ kind }) => kind)).not.toContain('compact');
    expect(provider.requests).toHaveLength(2);
  });

  it('loses the images of its older part, not the newest', async () => {
    const urls: string[] = [];
    for (const name of ['old.png', 'new.png']) {
      const background = name === 'old.png' ? '#111' : '#222';
      const image = await sharp({ create: { width: 30, height: 30, channels: 3, background } })
        .png()
        .toBuffer();
      await bench.put(name, image);
      urls.push(`data:image/png;base64,${image.toString('base64')}`);
    }
    const tooLong = { status: 413, body: 'too long' };
    const script = [
      call('view', { path: 'old.png' }),
      ...fill(6),
      call('view', { path: 'new.png' }),
      tooLong,
      settle(),
    ];
    const { provider } = await bench.run(script);
    const seen = provider.requests.map(({ body }) => urls.map((url) => JSON.stringify(body).includes(url)));
    expect(seen.at(-2)).toEqual([true, true]);
    expect(seen.at(-1)).toEqual([false, true]);
  });

  it('keeps earlier checkpoints as they are when it is shortened again', async () => {
    const script = [...fill(6), { text: 'FIRST PART' }, ...fill(6), { text: 'SECOND PART' }, ...fill(1), settle()];
    const { lines, result } = await bench.run(script, { model, guards: { settles: 1 } });
    const text = await readFile(join(bench.sessions, `${result.session}.jsonl`), 'utf8');
    expect(lines.filter(({ kind }) => kind === 'reset').length).toBeGreaterThanOrEqual(2);
    const last = text.slice(text.lastIndexOf('"kind":"reset"'));
    expect(last).toContain('FIRST PART');
    expect(last).toContain('SECOND PART');
  });
});

describe('dividing a conversation', () => {
  const pair = (id: string, size = 100): SessionMessage[] =>
    ['request', 'response'].map((kind) => ({
      type: 'activity',
      text: '',
      activity: {
        kind,
        id,
        name: 'read',
        ...(kind === 'response' ? { result: 'x'.repeat(size) } : { arguments: '{}' }),
      },
    }));

  it('never parts a call from its result, nor an image from its round', () => {
    for (let rounds = 1; rounds < 12; rounds += 1) {
      const messages = Array.from({ length: rounds }, (_, n) => [
        { type: 'reasoning', text: 'r' },
        ...pair(`a${n}`, 50 * n),
        ...pair(`b${n}`),
        { type: 'attachment', text: 'a.png', images: [] },
      ]).flat();
      const { old, kept } = divide([{ type: 'user', text: 'Begin.' }, ...messages]);
      const ids = (list: SessionMessage[], kind: string) =>
        list.filter(({ activity }) => activity?.kind === kind).map(({ activity }) => activity?.id);
      for (const part of [old, kept]) expect(ids(part, 'request')).toEqual(ids(part, 'response'));
      expect(kept[0]?.type).not.toBe('attachment');
      expect(kept.length).toBeGreaterThan(0);
    }
  });

  it('keeps the newest round whatever it weighs', () => {
    const { old, kept } = divide([{ type: 'user', text: 'Begin.' }, ...pair('a'), ...pair('b', 100_000)]);
    expect(kept.map(({ activity }) => activity?.id)).toEqual(['b', 'b']);
    expect(old).toHaveLength(3);
  });

  it('condenses line by line, in bounded length', () => {
    const text = structural([
      ...pair('a', 100_000),
      { type: 'bot', text: 'So it is.' },
      { type: 'reasoning', text: 'hidden' },
    ]);
    expect(text.length).toBeLessThan(600);
    expect(text).toContain('[bot] So it is.');
    expect(text).not.toContain('hidden');
  });
});
