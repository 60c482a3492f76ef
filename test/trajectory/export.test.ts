import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportTrajectory } from '../../src/trajectory/export.ts';
import type { MachineryBlock } from '../../src/trajectory/machinery.ts';
import type { Row } from '../../src/trajectory/types.ts';
import {
  RESULT,
  attachment,
  bot,
  call,
  checkpoint,
  event,
  imagePath,
  request,
  reset,
  result,
  user,
  writeImage,
  writeLog,
} from '../session/logs.ts';

const [A, B, C] = ['20260504-120000', '20260504-123000', '20260504-130000'] as const;
let dir: string;
let sessions: string;
let out: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-export-'));
  sessions = join(dir, 'sessions');
  out = join(dir, 'out');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function rowOf(id: string, folder = out): Promise<Row> {
  const text = await readFile(join(folder, id, `${id}.jsonl`), 'utf8');
  expect(text.indexOf('\n')).toBe(text.length - 1);
  return JSON.parse(text) as Row;
}

const texts = (messages: Row['messages'] = []) => messages.map((message) => message.content);

describe('a session exported as a row', () => {
  it('has every key in order, its conversation, and its images named by their hash', async () => {
    const image = await writeImage(sessions, A, 'pixels');
    await writeLog(sessions, A, [
      user('Begin'),
      event('iteration'),
      event('toolCallStart'),
      event('iteration'),
      ...call('c1', 'view', { path: '/tmp/x-desktop.png' }),
      attachment('/tmp/x-desktop.png', image, image),
      bot('It is too dark.'),
      result(),
    ]);
    const facts = await exportTrajectory({ sessions, id: A, out });
    const row = await rowOf(A);
    expect(Object.keys(row)).toEqual(
      'id chain task model provider driver workdir started ended outcome complete messages images events'.split(' '),
    );
    expect(row).toMatchObject({
      id: A,
      chain: [A],
      task: 'Make one machine.',
      model: 'model-1',
      provider: 'rehearsal',
      driver: 'custom',
      workdir: '/c',
      started: '2026-05-04T12:00:00.000Z',
      ended: '2026-05-04T12:00:09.000Z',
      outcome: RESULT,
      complete: true,
      images: [imagePath(image)],
      events: { iteration: 2, toolCallStart: 1 },
    });
    expect(row.messages[3]?.content).toEqual([
      { type: 'text', text: '/tmp/x-desktop.png' },
      { type: 'image', image: imagePath(image) },
      { type: 'image', image: imagePath(image) },
    ]);
    expect(await readFile(join(out, A, imagePath(image)), 'utf8')).toBe('pixels');
    expect(await readdir(out)).toEqual([A]);
    expect((await readdir(join(out, A))).sort()).toEqual([`${A}.jsonl`, 'images']);
    expect(facts).toMatchObject({ outcome: 'settled', counts: { messages: 5, snapshots: 0, calls: 1, images: 1 } });
  });

  it('leaves out what is not there', async () => {
    await writeLog(sessions, A, [user('Begin')], { workdir: undefined });
    await exportTrajectory({ sessions, id: A, out });
    const row = await rowOf(A);
    expect(Object.keys(row)).toEqual('id chain task model provider driver started ended complete messages'.split(' '));
    expect(row.complete).toBe(false);
    expect(await readdir(join(out, A))).toEqual([`${A}.jsonl`]);
  });

  it('tells that its log was cut', async () => {
    await writeLog(sessions, A, [user('Begin'), '{"kind":"messa']);
    expect(await exportTrajectory({ sessions, id: A, out })).toMatchObject({ truncated: true, complete: false });
    const row = await rowOf(A);
    expect(row.truncated).toBe(true);
    expect(Object.keys(row).slice(-3)).toEqual(['complete', 'truncated', 'messages']);
  });

  it('keeps what a compaction discarded as a snapshot, oldest first', async () => {
    await writeLog(sessions, A, [
      reset,
      user('1'),
      bot('2'),
      reset,
      checkpoint('so far 2'),
      bot('3'),
      reset,
      checkpoint('so far 3'),
    ]);
    const facts = await exportTrajectory({ sessions, id: A, out });
    const row = await rowOf(A);
    expect(texts(row.messages)).toEqual(['so far 3']);
    expect(row.snapshots?.map(texts)).toEqual([
      ['1', '2'],
      ['so far 2', '3'],
    ]);
    expect(Object.keys(row).slice(-2)).toEqual(['messages', 'snapshots']);
    expect(facts.counts).toMatchObject({ messages: 1, snapshots: 2 });
  });

  it('has no messages when the last thing was a reset', async () => {
    await writeLog(sessions, A, [user('1'), reset]);
    await exportTrajectory({ sessions, id: A, out });
    expect(await rowOf(A)).toMatchObject({ messages: [], snapshots: [[{ content: '1' }]] });
  });

  it('tells the whole chain: earlier conversations as snapshots, earliest start, all events', async () => {
    const image = await writeImage(sessions, A, 'first');
    const later = await writeImage(sessions, C, 'later');
    await writeImage(sessions, C, 'first');
    await writeLog(sessions, A, [user('a1'), event('iteration'), reset, checkpoint('a2'), attachment('/a', image)]);
    await writeLog(sessions, B, [event('iteration')], { resumedFrom: A });
    await writeLog(
      sessions,
      C,
      [user('c1'), reset, user('c2'), attachment('/c', later, image), result({ reason: 'failed', code: 1 })],
      {
        resumedFrom: B,
        task: 'The same',
      },
    );
    await exportTrajectory({ sessions, id: C, out });
    const row = await rowOf(C);
    expect(row.chain).toEqual([A, B, C]);
    expect(row.task).toBe('The same');
    expect(row.started).toBe('2026-05-04T12:00:00.000Z');
    expect(row.events).toEqual({ iteration: 2 });
    expect(row.snapshots?.map((messages) => texts(messages)[0])).toEqual(['a1', 'a2', 'c1']);
    expect(texts(row.messages)[0]).toBe('c2');
    // In the order they are seen when the snapshots are read first.
    expect(row.images).toEqual([imagePath(image), imagePath(later)]);
    expect((await readdir(join(out, C, 'images'))).length).toBe(2);
  });

  it('leaves snapshots out when they are refused, and the images only they show', async () => {
    const old = await writeImage(sessions, A, 'old');
    const kept = await writeImage(sessions, A, 'kept');
    await writeLog(sessions, A, [attachment('/1', old, kept), reset, attachment('/2', kept), bot('done')]);
    await exportTrajectory({ sessions, id: A, out, snapshots: false });
    const row = await rowOf(A);
    expect(row).not.toHaveProperty('snapshots');
    expect(row.messages.length).toBe(2);
    expect(row.images).toEqual([imagePath(kept)]);
    expect(await readdir(join(out, A))).toContain('images');
    expect(await readdir(join(out, A, 'images'))).toEqual([imagePath(kept).slice('images/'.length)]);
  });

  it('leaves out an image that is missing or is not what it says, and keeps its text', async () => {
    const lost = { ...(await writeImage(sessions, A, 'lost')), digest: `sha256:${'1'.repeat(64)}` };
    const spoilt = await writeImage(sessions, A, 'right');
    await writeFile(join(sessions, `${A}.blobs`, imagePath(spoilt).slice('images/'.length)), 'wrong');
    await writeLog(sessions, A, [attachment('/a', lost, spoilt)]);
    await exportTrajectory({ sessions, id: A, out });
    const row = await rowOf(A);
    expect(row.messages[0]?.content).toEqual([{ type: 'text', text: '/a' }]);
    expect(row).not.toHaveProperty('images');
    expect(await readdir(join(out, A))).toEqual([`${A}.jsonl`]);
  });

  it('takes inline images', async () => {
    const image = await writeImage(sessions, B, 'inline');
    const data = Buffer.from('inline').toString('base64');
    await writeLog(sessions, A, [attachment('/a', { ...image, source: 'inline', data })]);
    await exportTrajectory({ sessions, id: A, out });
    expect((await rowOf(A)).images).toEqual([imagePath(image)]);
  });

  it('carries the machinery block last, its keys in order, made from what is known', async () => {
    await writeLog(sessions, A, [user('Begin'), result()]);
    const block = {
      shift: { cost: 1 },
      files: {},
      machine: null,
      committed: false,
      probe: '',
      catalogue_check: 'success',
    } as const;
    await exportTrajectory({
      sessions,
      id: A,
      out,
      machinery: (facts): MachineryBlock => ({
        ...block,
        outcome: facts.outcome,
        commit: '',
        run: 'r',
        repository: 'o',
      }),
    });
    const row = await rowOf(A);
    expect(Object.keys(row).at(-1)).toBe('machinery');
    expect(Object.keys(row.machinery ?? {})).toEqual(
      'repository run commit outcome catalogue_check probe committed machine files shift'.split(' '),
    );
    expect(row.machinery?.outcome).toBe('settled');
  });

  it('repeats the outcome as recorded, unknown fields too', async () => {
    await writeLog(sessions, A, [
      { kind: 'result', result: { reason: 'error', mood: 'odd', failure: { status: 500 } } },
    ]);
    await exportTrajectory({ sessions, id: A, out });
    expect((await rowOf(A)).outcome).toEqual({ reason: 'error', mood: 'odd', failure: { status: 500 } });
  });

  it('is the same when it is exported again, and is never replaced by something else', async () => {
    await writeLog(sessions, A, [user('Begin'), result()]);
    await exportTrajectory({ sessions, id: A, out });
    const before = await readFile(join(out, A, `${A}.jsonl`), 'utf8');
    await exportTrajectory({ sessions, id: A, out });
    await writeLog(sessions, A, [user('Another'), result()]);
    await expect(exportTrajectory({ sessions, id: A, out })).rejects.toMatchObject({ code: 'row/different' });
    expect(await readFile(join(out, A, `${A}.jsonl`), 'utf8')).toBe(before);
    expect(await readdir(out)).toEqual([A]);
  });

  it('does not put up with a changed or a further image either', async () => {
    const image = await writeImage(sessions, A, 'pixels');
    await writeLog(sessions, A, [attachment('/a', image)]);
    await exportTrajectory({ sessions, id: A, out });
    await writeFile(join(out, A, 'images', 'more.png'), '');
    await expect(exportTrajectory({ sessions, id: A, out })).rejects.toMatchObject({ code: 'row/different' });
    await rm(join(out, A, 'images', 'more.png'));
    await writeFile(join(out, A, imagePath(image)), 'PIXELS');
    await expect(exportTrajectory({ sessions, id: A, out })).rejects.toMatchObject({ code: 'row/different' });
  });

  it('exported twice at once is one row', async () => {
    await writeLog(sessions, A, [user('Begin'), result()]);
    await Promise.all([1, 2, 3].map(() => exportTrajectory({ sessions, id: A, out })));
    expect(await readdir(out)).toEqual([A]);
  });

  it.each<[string, (string | object)[], object]>([
    ['a line in its middle that is no JSON', ['{"kind":"mess', reset, bot('3')], { truncated: true, complete: false }],
    ['its result before a reset', [result(), reset, bot('3')], { outcome: RESULT, complete: true }],
    ['a reset spelt with escapes', ['{"kind":"\u0072eset"}', bot('3')], { complete: false }],
    ['a reset with more in its line', [{ kind: 'reset', more: 'x'.repeat(3000) }, bot('3')], { complete: false }],
    ['one reset of each spelling', [reset, bot('2b'), '{"kind":"\u0072eset"}', bot('3'), result()], { complete: true }],
  ])('tells its conversations apart in a log with %s', async (_, lines, keys) => {
    const [old, seen] = [await writeImage(sessions, A, 'old'), await writeImage(sessions, A, 'seen')];
    const first = [attachment('/1', old), reset, attachment('/2', seen)];
    await writeLog(sessions, A, [...first, ...(lines as never[]), attachment('/3', seen, old)]);
    await exportTrajectory({ sessions, id: A, out });
    const row = await rowOf(A);
    expect(row).toMatchObject({ started: '2026-05-04T12:00:00.000Z', ...keys });
    expect(Object.hasOwn(row, 'truncated')).toBe('truncated' in keys);
    expect(row.messages.map(({ type }) => type)).toEqual(['bot', 'attachment']);
    expect(row.snapshots?.map((messages) => messages.length)).toEqual(lines.length > 3 ? [1, 1, 1] : [1, 1]);
    expect(row.images).toEqual([imagePath(old), imagePath(seen)]);
    expect((await readdir(join(out, A))).sort()).toEqual([`${A}.jsonl`, 'images']);
  });

  it('leaves nothing behind when it fails half way', async () => {
    await writeLog(sessions, A, [user('Begin'), result()]);
    const machinery = (): never => {
      throw new Error('no block');
    };
    await expect(exportTrajectory({ sessions, id: A, out, machinery })).rejects.toThrow('no block');
    expect(await readdir(out)).toEqual([]);
  });
});

describe('a chain', () => {
  it('ends at a link whose log is gone', async () => {
    await writeLog(sessions, B, [user('b')], { resumedFrom: A });
    await exportTrajectory({ sessions, id: B, out });
    expect((await rowOf(B)).chain).toEqual([B]);
  });

  it('ends at a link that is not an id, and never reads what it names', async () => {
    await writeLog(sessions, B, [user('b')], { resumedFrom: `../${A}` });
    await writeLog(dir, A, [user('secret')]);
    await exportTrajectory({ sessions, id: B, out });
    expect((await rowOf(B)).chain).toEqual([B]);
  });

  it.each([
    ['a circle', C, 'session/cycle'],
    ['an unknown id', '20260101-000000', 'session/unknown'],
    ['a path', `../sessions/${A}`, 'session/invalid-id'],
    ['a file name', `${A}.jsonl`, 'session/invalid-id'],
    ['dots', '..', 'session/invalid-id'],
    ['nothing', '', 'session/invalid-id'],
  ])('that is %s is an error and writes nothing', async (_, id, code) => {
    await writeLog(sessions, A, [user('a')], { resumedFrom: C });
    await writeLog(sessions, B, [user('b')], { resumedFrom: A });
    await writeLog(sessions, C, [user('c')], { resumedFrom: B });
    await expect(exportTrajectory({ sessions, id, out })).rejects.toMatchObject({ code });
    await expect(readdir(out)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('does not follow a link that stands in for a log', async () => {
    await writeLog(dir, A, [user('elsewhere')]);
    await writeLog(sessions, B, [user('b')], { resumedFrom: A });
    await symlink(join(dir, `${A}.jsonl`), join(sessions, `${A}.jsonl`));
    await exportTrajectory({ sessions, id: B, out });
    expect((await rowOf(B)).chain).toEqual([B]);
  });
});

describe('how often the model looked', () => {
  const view = (id: string, slug: string) => call(id, 'view', { path: `/tmp/machinery/${slug}-desktop.png` });
  const write = (id: string, slug: string) =>
    call(id, 'write', { path: `site/machines/${slug}/machine.css`, content: 'x' });

  it('counts views, and those of a machine that was changed since it was first seen', async () => {
    await writeLog(sessions, A, [
      ...view('1', 'old-lift'),
      ...write('2', 'tug'),
      ...view('3', 'tug'),
      ...write('4', 'tug'),
      ...view('5', 'tug'),
      ...view('6', 'old-lift'),
      request('7', 'view', { path: '/tmp/none.png' }),
      ...call('8', 'shell', { command: 'cat site/machines/old-lift/machine.css' }),
      ...view('9', 'old-lift'),
      ...call('10', 'shell', { command: "sed -i 's/a/b/' site/machines/old-lift/machine.css" }),
      ...view('11', 'old-lift'),
    ]);
    expect((await exportTrajectory({ sessions, id: A, out })).looked).toEqual({ views: 6, afterChange: 2 });
  });

  it('counts a call once, however often a compaction or a resume records it', async () => {
    const first = [...view('1', 'tug'), ...write('2', 'tug')];
    await writeLog(sessions, A, [...first, reset, checkpoint('c'), ...first, ...view('3', 'tug')]);
    await writeLog(sessions, B, [checkpoint('c'), ...first, ...view('3', 'tug'), ...view('4', 'tug')], {
      resumedFrom: A,
    });
    expect((await exportTrajectory({ sessions, id: B, out })).looked).toEqual({ views: 3, afterChange: 2 });
  });
});
