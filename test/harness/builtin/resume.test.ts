import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mended } from '../../../src/harness/builtin/resume.ts';
import type { SessionMessage } from '../../../src/session/types.ts';
import { Bench } from '../../helpers/agent.ts';
import { call, settle } from '../../helpers/provider.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.make();
});
afterEach(() => bench.remove());

const picture = (background: string) =>
  sharp({ create: { width: 20, height: 10, channels: 3, background } })
    .png()
    .toBuffer();

describe('a run that continues another', () => {
  it('re-records the whole conversation with its images, then the kickoff, and goes on from there', async () => {
    await bench.put('tug-desktop.png', await picture('#123'));
    const first = await bench.run([
      { reasoning: 'Look.', text: 'I look.', calls: [{ name: 'view', arguments: { path: 'tug-desktop.png' } }] },
      { status: 401 },
    ]);
    expect(first.result.reason).toBe('error');
    const second = await bench.run([settle()], { resume: first.result.session });
    expect(second.result.reason).toBe('settled');
    expect(second.result.session).not.toBe(first.result.session);
    expect(second.lines[0]).toMatchObject({
      meta: { resumedFrom: first.result.session, task: expect.stringContaining('tide table') },
    });
    expect(second.messages.slice(0, -1)).toEqual(first.messages);
    expect(second.messages.at(-1)?.text).toMatch(/^Continue your task/);
    expect(second.events.filter(({ kind }) => kind === 'message')).toEqual([]);
    const digest = first.messages.at(-1)?.images?.[0]?.digest.replace('sha256:', '');
    const blob = await readFile(join(bench.sessions, `${second.result.session}.blobs`, `${digest}.png`));
    expect(createHash('sha256').update(blob).digest('hex')).toBe(digest);
    const sent = second.sent(1).messages;
    expect(sent.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
      'user',
    ]);
    expect(sent[4].content[1].image_url.url).toBe(`data:image/png;base64,${blob.toString('base64')}`);
  });

  it('is told what the gates found, for a rework', async () => {
    const first = await bench.run([settle()]);
    const second = await bench.run([settle()], { resume: first.result.session, findings: 'legend-contrast: 2.1 to 1' });
    expect(second.sent(1).messages.at(-1).content).toContain('legend-contrast: 2.1 to 1');
    expect(second.messages.at(-1)?.text).toContain('Mend every error');
  });

  it('takes a log that zot wrote: cut short, with calls unanswered, unknown tools, kinds and fields, and an image', async () => {
    const image = await picture('#456');
    const hex = createHash('sha256').update(image).digest('hex');
    const id = '20260504-120000';
    const at = '2026-05-04T12:00:00.123456789Z';
    const activity = (kind: string, call: string, name: string, more: object = {}) => ({
      kind: 'message',
      at,
      message: { type: 'activity', text: '', activity: { kind, id: call, name, arguments: '{"path":"a"}', ...more } },
    });
    const lines = [
      {
        kind: 'meta',
        at,
        meta: { id, task: 'Old task.', model: 'm', provider: 'p', driver: 'custom', workdir: '/elsewhere' },
      },
      { kind: 'message', at, message: { type: 'user', text: 'Begin.' } },
      { kind: 'event', at, event: { kind: 'iteration', iteration: 1 } },
      { kind: 'telemetry', at, weather: 'fine' },
      activity('request', 'c1', 'weld', { novel: true }),
      activity('response', 'c1', 'weld', { result: { welded: ['a', 1] } }),
      activity('request', 'c2', 'view'),
      activity('response', 'c2', 'view', { result: 'attached' }),
      {
        kind: 'message',
        at,
        message: {
          type: 'attachment',
          text: 'Attached: a.png (image/png, 20x10)',
          images: [{ media_type: 'image/png', digest: `sha256:${hex}`, width: 20, height: 10, source: 'blob' }],
        },
      },
      activity('request', 'c3', 'shell'),
    ].map((line) => JSON.stringify(line));
    await mkdir(join(bench.sessions, `${id}.blobs`), { recursive: true });
    await writeFile(join(bench.sessions, `${id}.blobs`, `${hex}.png`), image);
    await writeFile(join(bench.sessions, `${id}.jsonl`), `${lines.join('\n')}\n{"kind":"message","at":"2026`);
    const {
      result,
      lines: own,
      sent,
      messages,
    } = await bench.run([call('list', { path: '.' }), settle()], { resume: id });
    expect(result.reason).toBe('settled');
    expect(own[0]).toMatchObject({ meta: { task: 'Old task.', resumedFrom: id, provider: 'scripted' } });
    const asked = sent(1).messages;
    expect(asked[0].content).toContain('Old task.');
    expect(asked.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(asked[3].content).toBe('{"welded":["a",1]}');
    expect(asked[6].content[1].image_url.url).toContain(image.toString('base64'));
    expect(asked[8].content).toContain('interrupted');
    expect(messages.find(({ activity: a }) => a?.kind === 'response' && a.id === 'c3')?.activity?.failure).toContain(
      'interrupted',
    );
  });

  it('goes on without an image whose bytes are lost or were changed', async () => {
    await bench.put('a.png', await picture('#123'));
    const first = await bench.run([call('view', { path: 'a.png' }), { status: 401 }]);
    const digest = first.messages.at(-1)?.images?.[0]?.digest.replace('sha256:', '');
    const blob = join(bench.sessions, `${first.result.session}.blobs`, `${digest}.png`);
    await copyFile(bench.order, blob);
    const second = await bench.run([settle()], { resume: first.result.session });
    expect(second.result.reason).toBe('settled');
    expect(JSON.stringify(second.sent(1))).not.toContain('image_url');
    expect(second.sent(1).messages.at(-2).content).toBe('a.png');
  });

  it('is refused, and writes nothing, when there is no such session or the id is a path', async () => {
    await expect(bench.run([], { resume: '20200101-000000' })).rejects.toThrow('there is no session');
    await expect(bench.run([], { resume: '../checkout/x' })).rejects.toThrow("is not a session's id");
  });
});

describe('mending a conversation', () => {
  const half = (kind: string, id: string): SessionMessage => ({
    type: 'activity',
    text: '',
    activity: { kind, id, name: 't' },
  });

  it('answers each open call at once and drops answers to nothing', () => {
    const messages = [
      half('response', 'x'),
      half('request', 'a'),
      half('response', 'a'),
      half('request', 'b'),
      half('request', 'c'),
    ];
    expect(mended(messages).map(({ activity }) => `${activity?.kind} ${activity?.id}`)).toEqual([
      'request a',
      'response a',
      'request b',
      'response b',
      'request c',
      'response c',
    ]);
  });

  it('leaves a whole conversation as it is, also where a provider counts its ids anew each turn', () => {
    const whole = [half('request', '0'), half('response', '0'), half('request', '0'), half('response', '0')];
    expect(mended(whole)).toEqual(whole);
    expect(mended([...whole, half('request', '0')])).toHaveLength(6);
  });
});
