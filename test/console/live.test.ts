import { appendFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parsePlace } from '../../src/console/live.ts';
import { readLines, tailLines } from '../../src/console/log-file.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';
import { type TestRoom, openRoom, writeLog } from './room.ts';

const SHIFT = '20260504-120000';
const NEXT = '20260504-123000';
const entry = (n: number) => ({ level: 20, time: '2026-05-04T12:00:00.000Z', activity: 'say', msg: `line ${n}` });
const path = (shift = SHIFT) => join(room.config.data, 'shifts', shift, 'log.ndjson');

let room: TestRoom;
beforeEach(async () => {
  room = await openRoom();
});
afterEach(() => room.close());

interface Heard {
  event: string;
  id: string;
  data: { text?: string };
}

/** Follows `/api/live`; `until` resolves when what was heard says so. */
function follow(query: string, headers: Record<string, string> = {}) {
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  let text = '';
  const asked = request({ host: '127.0.0.1', port: room.port, path: `/api/live?${query}`, headers }, (answer) => {
    answer.setEncoding('utf8');
    answer.on('data', (chunk: string) => {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        if (field('event')) heard.push({ event: field('event'), id: field('id'), data: JSON.parse(field('data')) });
      }
      for (const wake of waiting) wake();
    });
    answer.on('error', () => {});
  });
  asked.on('error', () => {});
  asked.end();
  return {
    heard,
    lines: () => heard.filter(({ event }) => event === 'log').map(({ data }) => data.text ?? ''),
    until: (enough: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!enough()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    stop: () => asked.destroy(),
  };
}

const working = (shift: string) => {
  const record = recordOf(shift, { verdict: null, endedAt: null });
  keepRecord(room.config.data, record);
  room.factory.pretend({ state: 'working', current: { by: 'test', since: record.startedAt, record, activity: null } });
};

describe('the live log', () => {
  it('goes on where a follower was, by the id of its last line', async () => {
    writeLog(room.config.data, SHIFT, [1, 2, 3].map(entry));
    working(SHIFT);
    const first = follow('');
    await first.until(() => first.lines().length === 3);
    first.stop();
    const id = first.heard.findLast(({ event }) => event === 'log')?.id as string;
    expect(parsePlace(id)).toEqual({ shift: SHIFT, byte: expect.any(Number) });
    appendFileSync(path(), `${JSON.stringify(entry(4))}\n`);
    const second = follow('', { 'last-event-id': id });
    await second.until(() => second.lines().length === 1);
    appendFileSync(path(), `${JSON.stringify(entry(5))}\n`);
    await second.until(() => second.lines().length === 2);
    expect(second.lines()).toEqual(['line 4', 'line 5']);
    second.stop();
  });

  it('goes on from an ended shift to the one that is worked next, and loses nothing between', async () => {
    writeLog(room.config.data, SHIFT, [entry(1)]);
    working(SHIFT);
    const follower = follow('');
    await follower.until(() => follower.lines().length === 1);
    appendFileSync(path(), `${JSON.stringify(entry(2))}\n`);
    keepRecord(room.config.data, recordOf(SHIFT));
    writeLog(room.config.data, NEXT, [entry(3)]);
    working(NEXT);
    await follower.until(() => follower.lines().length === 3);
    expect(follower.lines()).toEqual(['line 1', 'line 2', 'line 3']);
    follower.stop();
  });

  it('ends after the last line of a shift that was asked for by its id', async () => {
    writeLog(room.config.data, SHIFT, [entry(1), entry(2)]);
    keepRecord(room.config.data, recordOf(SHIFT));
    const follower = follow(`shift=${SHIFT}`);
    await follower.until(() => follower.heard.some(({ event }) => event === 'end'));
    expect(follower.lines()).toEqual(['line 1', 'line 2']);
  });

  it('tells every follower every line, also one that comes late', async () => {
    writeLog(room.config.data, SHIFT, []);
    working(SHIFT);
    const early = Array.from({ length: 20 }, () => follow(''));
    for (let n = 1; n <= 300; n += 1) {
      appendFileSync(path(), `${JSON.stringify(entry(n))}\n`);
      if (n % 25 === 0)
        room.factory.tell({ at: '', type: 'activity', shift: SHIFT, activity: { at: '', kind: 'say', text: '' } });
    }
    const all = [...early, follow('')];
    const wanted = Array.from({ length: 300 }, (_, n) => `line ${n + 1}`);
    for (const each of all) {
      await each.until(() => each.lines().length >= 300);
      expect(each.lines()).toEqual(wanted);
      each.stop();
    }
  });

  it('says that a page changed, without the log, to a page that has none', async () => {
    writeLog(room.config.data, SHIFT, [entry(1)]);
    working(SHIFT);
    const follower = follow('log=no');
    await follower.until(() => follower.heard.length === 1);
    await room.factory.pause('test');
    await follower.until(() => follower.heard.length === 2);
    expect(follower.heard.map(({ event }) => event)).toEqual(['line', 'line']);
    follower.stop();
  });

  it('lets its followers go when the console closes', async () => {
    working(SHIFT);
    const follower = follow('');
    await follower.until(() => follower.heard.length > 0);
    // Would wait for ever for a follower that is held.
    await room.close();
    room = await openRoom();
  });
});

describe('reading a log', () => {
  it('waits for the end of a half-written line, and passes over one that is not ours', async () => {
    writeLog(room.config.data, SHIFT, [entry(1)]);
    appendFileSync(path(), 'not json\n{"level":30,"ms');
    const { lines, next } = await readLines(path(), 0);
    expect(lines.map(({ line }) => line.text)).toEqual(['line 1']);
    appendFileSync(path(), 'g":"whole"}\n');
    expect((await readLines(path(), next)).lines.map(({ line }) => line.text)).toEqual(['whole']);
  });

  it('reads a line that is longer than a piece, and letters that fall across pieces', async () => {
    const long = 'é'.repeat(100_000);
    writeLog(room.config.data, SHIFT, [{ msg: long }, entry(2)]);
    let [from, texts] = [0, [] as string[]];
    for (let n = 0; n < 10 && texts.length < 2; n += 1) {
      const { lines, next } = await readLines(path(), from);
      texts = [...texts, ...lines.map(({ line }) => line.text)];
      from = next;
    }
    expect(texts).toEqual([long, 'line 2']);
  });

  it('begins anew when its place is beyond the end, and reads nothing where there is no log', async () => {
    writeLog(room.config.data, SHIFT, [entry(1)]);
    expect((await readLines(path(), 1e6)).lines).toHaveLength(1);
    expect(await readLines(path(NEXT), 5)).toEqual({ lines: [], next: 5 });
  });

  it('shows the last lines only, and goes on after them', async () => {
    writeLog(
      room.config.data,
      SHIFT,
      Array.from({ length: 50 }, (_, n) => entry(n)),
    );
    const { lines, next } = await tailLines(path(), 3);
    expect(lines.map(({ line }) => line.text)).toEqual(['line 47', 'line 48', 'line 49']);
    expect((await readLines(path(), next)).lines).toEqual([]);
  });
});
