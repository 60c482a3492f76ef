import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTail, sessionOf } from '../../src/console/session-tail.ts';
import { summarise } from '../../src/console/shift-book.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';
import { attachment, bot, call, reasoning, reset, user, writeImage, writeLog } from '../session/logs.ts';
import { type TestRoom, openRoom } from './room.ts';

const SHIFT = '20260504-120000';
const SESSION = '20260504-120003';
const running = recordOf(SHIFT, { verdict: null, endedAt: null });
const MARKUP = '<script>window.hurt=1</script>';

let room: TestRoom;
let folder: string;
beforeEach(async () => {
  room = await openRoom();
  folder = join(room.config.data, 'sessions', `open-${SHIFT}`);
  keepRecord(room.config.data, running);
});
afterEach(() => room.close());

const session = () => ({ folder, id: SESSION });
const log = () => join(folder, `${SESSION}.jsonl`);
const page = async (query = '') => (await room.ask(`/shifts/${SHIFT}/conversation${query}`)).text;
const said = async (before: number | null = null, most = 40) =>
  (await readTail(session(), before, most)).turns.map(({ message: { content } }) => content);

describe('the conversation of a shift at work', () => {
  it('is read turn by turn, the newest first: calls folded, images where the model saw them, all of it as text', async () => {
    expect(await page()).toContain('The agent has not begun.');
    const image = await writeImage(folder, SESSION, 'pixels');
    await writeLog(folder, SESSION, [
      user('Begin'),
      reasoning(MARKUP),
      bot(`I look. ${MARKUP}`),
      ...call('c1', 'view', { path: '/tmp/machinery/a-desktop.png' }, 'attached'),
      attachment('/tmp/machinery/a-desktop.png', image),
      bot('Too faint.'),
    ]);
    const text = await page();
    expect(text).not.toContain(MARKUP);
    expect(text).toContain('<summary><code>view /tmp/machinery/a-desktop.png</code></summary>');
    expect(text.indexOf('Too faint.')).toBeLessThan(text.indexOf('I look.'));
    const seen = /src="(\/shifts\/[^"]+\.png)"/.exec(text)?.[1] as string;
    expect((await room.ask(seen)).text).toBe('pixels');
    // Bytes that are not what the model saw are not shown as such.
    writeFileSync(join(folder, `${SESSION}.blobs`, seen.split('/').at(-1) as string), 'other');
    expect((await room.ask(seen)).status).toBe(404);
    expect((await room.ask(`/shifts/${SHIFT}/seen/..%2f..%2fx.png`)).status).toBe(404);
  });

  it('is told to the last whole line, and goes on from there', async () => {
    await writeLog(folder, SESSION, [user('Begin'), bot('one')]);
    appendFileSync(log(), '{"kind":"message","at":"2026-05-04T12:00:09Z","message":{"type":"bot","te');
    expect(await readTail(session(), null, 40)).toMatchObject({ from: 0, broken: 0, turns: [{}, {}] });
    appendFileSync(log(), 'xt":"two"}}\n');
    expect(await said()).toEqual(['Begin', 'one', 'two']);
  });

  it('shows the last turns, and those before them at the place that it names', async () => {
    const turns = Array.from({ length: 90 }, (_, n) => user(`turn ${n}`));
    await writeLog(folder, SESSION, turns);
    const last = await readTail(session(), null, 40);
    expect([last.turns.length, last.turns[0]?.message.content]).toEqual([40, 'turn 50']);
    expect(await said(last.from)).toEqual(Array.from({ length: 40 }, (_, n) => `turn ${n + 10}`));
    expect(await page()).toContain(`conversation?before=${last.from}`);
    expect(await page(`?before=${last.from}`)).toContain('turn 10');
    expect(await page('?before=-1;drop')).toContain('turn 89');
  });

  it('says where it was begun anew', async () => {
    await writeLog(folder, SESSION, [user('Begin'), reset, user('Summary'), bot('on')]);
    expect(await page()).toContain('begun anew');
  });

  it('does no harm when the log is nonsense, endless, a link or gone', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(log(), `not json\n{"kind":"message"}\n[[[\n${'['.repeat(100_000)}\n\0\n`);
    expect(await readTail(session(), null, 40)).toEqual({ turns: [], from: 0, broken: 4 });
    expect(await page()).toContain('4 lines of the log cannot be read');
    // A line of three megabytes, then one that is never ended.
    await writeLog(folder, SESSION, [user('first'), user('x'.repeat(3_000_000)), bot('last')]);
    appendFileSync(log(), 'y'.repeat(3_000_000));
    const tail = await readTail(session(), null, 40);
    expect(tail.turns.at(-1)?.message.content).toBe('last');
    expect((await page()).length).toBeLessThan(200_000);
    renameSync(log(), `${log()}.real`);
    symlinkSync(`${log()}.real`, log());
    expect(await said()).toEqual([]);
    rmSync(folder, { recursive: true });
    expect((await room.ask(`/shifts/${SHIFT}/conversation`)).status).toBe(200);
    expect((await room.ask('/shifts/20260504-999999/conversation')).status).toBe(404);
  });

  it('is found in the chain of its branch when the shift continues one, and not before the agent began again', async () => {
    const { data } = room.config;
    const before = recordOf('20260504-113000', { session: '20260504-113003', branch: running.branch });
    folder = join(data, 'sessions', '20260504-113003');
    await writeLog(folder, '20260504-113003', [user('earlier')]);
    const find = () => sessionOf(data, running, [summarise(running), summarise(before)]);
    expect(await find()).toBeNull();
    await writeLog(folder, SESSION, [user('now')], { resumed_from: '20260504-113003' });
    expect(await find()).toEqual({ folder, id: SESSION });
  });

  it('leads to the row once there is one', async () => {
    const { data } = room.config;
    keepRecord(data, recordOf(SHIFT, { session: SESSION }));
    const row = join(data, 'dataset', 'trajectories', SESSION);
    mkdirSync(row, { recursive: true });
    writeFileSync(join(row, `${SESSION}.jsonl`), '{}\n');
    expect((await room.ask(`/shifts/${SHIFT}/conversation`)).headers.location).toBe(`/rows/${SESSION}`);
  });
});
