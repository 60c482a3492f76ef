import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../../helpers/agent.ts';
import { call, settle } from '../../helpers/provider.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.make();
});
afterEach(() => bench.remove());

describe('a run', () => {
  it('records meta, kickoff, rounds and result in the order of the session log', async () => {
    const args = '{"path": "note.txt",  "content": "tide"}';
    const { lines, result, told } = await bench.run([
      { reasoning: 'A note first.', text: 'I begin.', calls: [{ name: 'write', arguments: args }] },
      settle('A tide table that ticks.'),
    ]);
    expect(result).toMatchObject({
      reason: 'settled',
      message: 'A tide table that ticks.',
      code: 0,
      iterations: 2,
      calls: 1,
    });
    expect(result).toMatchObject({ inputTokens: 20, outputTokens: 10, continuations: 0, settles: 0, cycles: 0 });
    const shape = lines.map((line) => {
      if (line.kind === 'message') return line.message.activity?.kind ?? line.message.type;
      return line.kind === 'event' ? `(${line.event.kind})` : line.kind;
    });
    expect(shape).toEqual([
      'meta',
      'user',
      '(iteration)',
      '(usage)',
      '(message)',
      '(message)',
      '(toolCallStart)',
      '(toolCallEnd)',
      'reasoning',
      'bot',
      'request',
      'response',
      '(iteration)',
      '(usage)',
      'result',
    ]);
    expect(lines[0]).toMatchObject({
      meta: {
        id: result.session,
        model: 'eyes-1',
        provider: 'scripted',
        workdir: bench.checkout,
        task: 'Build a tide table.\n\nAcceptance criteria - the objective is not met until every one of these holds:\n1. It ticks.',
      },
    });
    expect(lines[1]).toMatchObject({ message: { text: expect.stringMatching(/^Begin working on your task/) } });
    expect(lines[10]).toMatchObject({ message: { activity: { name: 'write', arguments: args } } });
    expect(lines.at(-1)).toMatchObject({ result: { reason: 'settled', code: 0 } });
    expect(await bench.file('note.txt')).toBe('tide');
    expect(told.join('\n')).toContain('toolCallStart write');
  });

  it('gives the model the task and the contract, and keeps both out of the log', async () => {
    const { sent, result } = await bench.run([settle()]);
    const { messages, tools, stream } = sent(1);
    expect(messages[0].role).toBe('system');
    expect(messages[0].content).toContain('Build a tide table.');
    expect(messages[0].content).toContain('Contract: paint nothing red.');
    expect(stream).toBe(true);
    expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      'read',
      'write',
      'list',
      'shell',
      'view',
      'plan',
      'progress',
      'success',
      'failure',
    ]);
    const text = await readFile(join(bench.sessions, `${result.session}.jsonl`), 'utf8');
    expect(text).not.toContain('paint nothing red');
  });

  it('offers tools whose schemas name every argument plainly', async () => {
    const { sent } = await bench.run([settle()]);
    const [read, write] = sent(1).tools;
    expect(read.function.parameters).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: expect.any(String) },
        startLine: { type: 'integer', description: expect.any(String) },
        endLine: { type: 'integer', description: expect.any(String) },
      },
      required: ['path', 'startLine', 'endLine'],
    });
    expect(write.function.parameters.required).toEqual(['path', 'content']);
    expect(write.function.parameters.properties.startLine).toEqual({
      type: 'integer',
      description: expect.any(String),
    });
  });

  it('sends each result back to the call it answers, with the arguments as the model wrote them', async () => {
    const args = '{"path": "AGENTS.md", "startLine":1,   "endLine": 1}';
    const { sent } = await bench.run([call('read', args), settle()]);
    expect(sent(2).messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1_1', type: 'function', function: { name: 'read', arguments: args } }],
      },
      {
        role: 'tool',
        tool_call_id: 'call_1_1',
        content: '[AGENTS.md lines 1-1 of 2]\n1\tContract: paint nothing red.\n',
      },
    ]);
  });

  it('shows the images of a round in one user message after its results, scaled down, and keeps the same bytes', async () => {
    const panel = await sharp({ create: { width: 3136, height: 1000, channels: 3, background: '#345' } })
      .png()
      .toBuffer();
    const small = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#aa3' } })
      .png()
      .toBuffer();
    await bench.put('kestrel-desktop.png', panel);
    await bench.put('kestrel-phone.png', small);
    const { sent, messages, result } = await bench.run([
      {
        calls: [
          { name: 'view', arguments: { path: 'kestrel-desktop.png' } },
          { name: 'view', arguments: { path: 'kestrel-phone.png', detail: 'high' } },
        ],
      },
      { text: 'The legend is faint.', calls: [{ name: 'list', arguments: { path: '.' } }] },
      settle(),
    ]);
    expect(messages.map(({ type, activity }) => activity?.kind ?? type).slice(1, 6)).toEqual([
      'request',
      'response',
      'request',
      'response',
      'attachment',
    ]);
    const attachment = messages[5];
    expect(attachment?.text).toBe('kestrel-desktop.png; kestrel-phone.png');
    expect(attachment?.images).toMatchObject([
      { media_type: 'image/png', width: 1568, height: 500, origin: 'kestrel-desktop.png', source: 'blob' },
      { media_type: 'image/png', width: 40, height: 30, detail: 'high', source: 'blob' },
    ]);
    const parts = sent(2).messages.at(-1).content;
    expect(parts.map((part: { type: string }) => part.type)).toEqual(['text', 'image_url', 'image_url']);
    expect(parts[2].image_url.detail).toBe('high');
    expect(parts[2].image_url.url).toBe(`data:image/png;base64,${small.toString('base64')}`);
    const digest = attachment?.images?.[0]?.digest.replace('sha256:', '');
    const blob = await readFile(join(bench.sessions, `${result.session}.blobs`, `${digest}.png`));
    expect(parts[1].image_url.url).toBe(`data:image/png;base64,${blob.toString('base64')}`);
  });

  it('offers no view to a model that cannot see, or whose context is small', async () => {
    for (const model of [{ vision: false }, { context: 16_000 }]) {
      const { sent, answers } = await bench.run([call('view', { path: 'x.png' }), settle()], { model });
      const names = sent(1).tools.map((tool: { function: { name: string } }) => tool.function.name);
      expect(names).not.toContain('view');
      expect(answers[0]?.failure).toContain('there is no tool view');
    }
  });

  it('ends as failed when the agent says it cannot be done', async () => {
    const { result, lines } = await bench.run([call('failure', { reason: 'The shelf is full.' })]);
    expect(result).toMatchObject({ reason: 'failed', message: 'The shelf is full.', code: 1 });
    expect(lines.filter(({ kind }) => kind === 'message')).toHaveLength(1);
  });

  it('makes the calls that stand before the verdict in the same turn', async () => {
    const { result, messages } = await bench.run([
      {
        calls: [
          { name: 'write', arguments: { path: 'last.txt', content: 'x' } },
          { name: 'success', arguments: { summary: 'ok' } },
        ],
      },
    ]);
    expect(result.reason).toBe('settled');
    expect(await bench.file('last.txt')).toBe('x');
    expect(messages.map(({ activity }) => activity?.name)).toEqual([undefined, 'write', 'write']);
  });

  it('records the reasoning blocks a provider wants back with the first call, and sends them back with it', async () => {
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const raw = [
      chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Let ' }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'me.', signature: 'sig' }] }),
      chunk({
        tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'list', arguments: '{"path":"."}' } }],
      }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ].join('');
    const { sent, messages } = await bench.run([{ raw }, settle()]);
    const blocks = [{ type: 'reasoning.text', index: 0, text: 'Let me.', signature: 'sig' }];
    expect(messages.find(({ activity }) => activity?.kind === 'request')?.activity?.reasoning_details).toEqual(blocks);
    expect(sent(2).messages[2].reasoning_details).toEqual(blocks);
  });
});
