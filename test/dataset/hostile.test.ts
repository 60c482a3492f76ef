import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scanRow } from '../../src/dataset/scan.ts';
import { ship } from '../../src/dataset/ship.ts';
import { openSource } from '../../src/dataset/source.ts';
import { query } from '../../src/dataset/sql.ts';
import { DatasetStore } from '../../src/dataset/store.ts';
import { tally } from '../../src/dataset/tally.ts';
import { validateRows } from '../../src/dataset/validate.ts';
import type { Row } from '../../src/trajectory/types.ts';
import { bot, call, reasoning, result, user, writeLog } from '../session/logs.ts';
import { HubServer, TOKEN } from './hub-server.ts';
import { SECRET, block, rowId, tenRows } from './rows.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-hostile-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

let data: string;
let store: DatasetStore;
beforeEach(async () => {
  data = await mkdtemp(join(dir, 'data-'));
  store = new DatasetStore(join(data, 'dataset'));
});

async function put(n: number, ...lines: Parameters<typeof writeLog>[2]): Promise<void> {
  await writeLog(join(data, 'sessions'), rowId(n), lines);
  await store.put(join(data, 'sessions'), rowId(n), block);
}

describe('a query that would do more than read the rows', () => {
  beforeEach(() => put(0, user('Begin'), result()));

  it.each([
    ['reads a file', "SELECT * FROM read_text('/etc/hostname')"],
    ['reads a file beside the rows', 'SELECT * FROM read_text(OUTSIDE)'],
    ['lists files', "SELECT * FROM glob('/etc/*')"],
    ['fetches an address', "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')"],
    ['writes a file', 'COPY (SELECT 1) TO OUTSIDE'],
    ['writes among the rows', 'COPY (SELECT 1) TO INSIDE'],
    ['writes in the name of a plan', 'EXPLAIN ANALYZE COPY (SELECT 1) TO INSIDE'],
    ['exports the database', 'EXPORT DATABASE INSIDE'],
    ['attaches a database', 'ATTACH INSIDE AS x'],
    ['installs an extension', 'INSTALL httpfs'],
    ['loads an extension', 'LOAD httpfs'],
    ['takes the fences down', 'SET enable_external_access = true'],
    ['has a second statement', 'SELECT 1; COPY (SELECT 1) TO INSIDE'],
    ['changes the views', 'DROP VIEW rows'],
    ['is none', ''],
  ])('(it %s) is refused', async (_, sql) => {
    const inside = join(store.trajectories, 'made');
    const outside = join(data, 'made');
    const text = sql.replace('OUTSIDE', `'${outside}'`).replace('INSIDE', `'${inside}'`);
    if (sql.includes('read_text(OUTSIDE')) await writeFile(outside, 'private');
    await expect(query(store, text)).rejects.toMatchObject({ code: 'usage/invalid' });
    expect(await readdir(store.trajectories)).toEqual([rowId(0)]);
    expect((await readdir(data)).includes('made')).toBe(sql.includes('read_text(OUTSIDE'));
  });

  it.each(['DESCRIBE rows', 'WITH a AS (FROM rows) SELECT id FROM a', 'FROM tips;', 'SUMMARIZE messages'])(
    '(%s) reads, and is answered',
    async (sql) => {
      expect((await query(store, sql)).length).toBeGreaterThan(0);
    },
  );
});

describe('a hub that lies', () => {
  let hub: HubServer;
  const path = `trajectories/${rowId(0)}/${rowId(0)}.jsonl`;
  const read = () =>
    openSource({ data: join(data, 'reader'), source: 'hub:factory/sessions', endpoint: hub.endpoint, token: TOKEN });
  const fetched = () => readdir(join(data, 'reader'), { recursive: true });
  beforeEach(async () => {
    hub = await HubServer.start();
    await put(0, user('Begin'), result());
    await ship({ data, repo: 'factory/sessions', endpoint: hub.endpoint, token: TOKEN, secrets: [] });
  });
  afterEach(() => hub.stop());

  it('cannot place a file outside its cache', async () => {
    for (const name of [
      '../../../evil.jsonl',
      `/etc/${rowId(0)}.jsonl`,
      `trajectories/${rowId(0)}/../../evil.jsonl`,
      `trajectories/${rowId(0)}/images/../../../../evil.png`,
      `trajectories/${rowId(0)}/${rowId(0)}.jsonl\u0000`,
      `trajectories/..\\..\\evil/${rowId(0)}.jsonl`,
    ]) {
      hub.files.set(name, { bytes: Buffer.from('x'), lfs: false });
    }
    expect((await (await read()).list()).length).toBe(1);
    expect((await fetched()).filter((name) => /evil|\0/.test(name))).toEqual([]);
    expect(await readdir(data)).not.toContain('evil.jsonl');
  });

  it.each([
    ['less', 10],
    ['more', 1_000_000],
  ])('about a length, telling %s, leaves nothing behind', async (_, bytes) => {
    hub.lengths.set(path, bytes);
    await expect(read()).rejects.toMatchObject({ code: 'hub/refused' });
    expect((await fetched()).filter((name) => name.includes('.jsonl'))).toEqual([]);
    hub.lengths.clear();
    expect((await (await read()).list()).length).toBe(1);
  });

  it('about a length no disk has is not asked for the file', async () => {
    hub.lengths.set(path, 1e15);
    await expect(read()).rejects.toMatchObject({ code: 'data/full' });
    expect(hub.requests).not.toContain('resolve');
  });

  it.each(['redirect', 'next'] as const)('about where to go on (%s) does not get the token there', async (kind) => {
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(206, { 'Content-Type': 'application/json', 'Content-Range': 'bytes 0-1/2', ETag: '"e"' });
      response.end('[]');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    hub.elsewhere[kind] = `http://127.0.0.1:${(other.address() as AddressInfo).port}/next`;
    await read().catch(() => {});
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((value) => value !== undefined)).toEqual([]);
  });
});

describe('an index that cannot be believed', () => {
  const index = () => join(data, 'dataset', 'index.ndjson');

  it.each([
    ['is not text', Buffer.from([0, 255, 10, 13, 0])],
    ['holds other JSON', 'null\n7\n[]\n"x"\n{}\n'],
    ['has the right ids and nothing else', `{"id":"${rowId(0)}","counts":null}\n{"id":"${rowId(1)}","counts":{}}\n`],
    ['knows rows that are not there', `{"id":"${rowId(99)}"}\n`],
  ])('because it %s, is made anew', async (_, content) => {
    const kept = await tenRows(data);
    const before = await kept.list();
    await writeFile(index(), content);
    const after = await kept.list();
    expect(after).toEqual(before);
    expect(tally(after)).toEqual(tally(before));
    expect((await readFile(index(), 'utf8')).trim().split('\n').length).toBe(10);
  });

  it('because others write it and rows go while it is read, still tells every row that stays', async () => {
    const kept = await tenRows(data);
    await Promise.all([
      ...[1, 2, 3, 4].map(async () => {
        await rm(index(), { force: true });
        await new DatasetStore(kept.folder).list();
      }),
      appendFile(index(), '{"id":"2026'),
      rm(kept.rowFolder(rowId(3)), { recursive: true }),
      kept.refresh(rowId(5)),
    ]);
    expect((await kept.list()).map(({ id }) => id)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9].map(rowId));
  });
});

describe('a log whose text others cannot read', () => {
  it('becomes a row that they can: half a surrogate pair is replaced, wherever it stands', async () => {
    const half = 'a\ud800b';
    const long = `${half}${'x'.repeat(2000)}`;
    await writeLog(
      join(data, 'sessions'),
      rowId(0),
      [
        user(half),
        reasoning(long),
        bot(long),
        ...call(half, half, { path: long }, long),
        ...call('c2', 'read', '{}', { deep: half }),
        { kind: 'event', event: { kind: half } },
        result({ message: half, reason: half }),
      ],
      { task: half },
    );
    await store.put(join(data, 'sessions'), rowId(0), (facts) => ({ ...block(facts), files: { [half]: half } }));
    const text = await readFile(store.rowPath(rowId(0)), 'utf8');
    const row = JSON.parse(text) as Row;
    expect(row.messages[1]?.content).toBe(`a\ufffdb${'x'.repeat(2000)}`);
    expect(JSON.stringify(row)).not.toMatch(/(?<!\\)\\ud8/);
    expect((await query(store, 'SELECT count(*)::INT AS n FROM messages'))[0]).toEqual({ n: row.messages.length });
    expect((await validateRows(store.trajectories)).faults).toEqual([]);
  });

  it('keeps NUL, line ends and whole pairs as they are', async () => {
    const odd = '\u0000\r\n\u2028😀\\ud800';
    await put(0, user(odd), bot(odd.repeat(300)), result());
    const row = JSON.parse(await readFile(store.rowPath(rowId(0)), 'utf8')) as Row;
    expect(row.messages.map(({ content }) => content)).toEqual([odd, odd.repeat(300)]);
    expect((await query(store, 'SELECT content FROM messages ORDER BY n'))[0]).toEqual({ content: odd });
  });
});

describe('rows that somebody else made', () => {
  const write = async (id: string, text: string | Buffer): Promise<void> => {
    await mkdir(store.rowFolder(id), { recursive: true });
    await writeFile(store.rowPath(id), text);
  };
  const kinds = async () =>
    (await validateRows(store.trajectories)).faults.map(({ row, kind, told }) => `${row} ${kind}: ${told}`);

  it('are told to continue each other in a circle', async () => {
    await put(0, user('a'), result());
    await put(1, user('b'), result());
    for (const [id, chain] of [
      [rowId(0), [rowId(1), rowId(0)]],
      [rowId(1), [rowId(0), rowId(1)]],
    ] as const) {
      const row = JSON.parse(await readFile(store.rowPath(id), 'utf8')) as Row;
      await write(id, `${JSON.stringify({ ...row, chain })}\n`);
    }
    expect(await kinds()).toEqual([
      `${rowId(0)} chain: it and ${rowId(1)} continue each other`,
      `${rowId(1)} chain: it and ${rowId(0)} continue each other`,
    ]);
    expect((await store.list()).length).toBe(2);
  });

  it.each<[string, (text: string) => string, RegExp | null]>([
    ['spread over lines', (text) => `${JSON.stringify(JSON.parse(text), null, 2)}\n`, /unreadable: .*not on one line/],
    ['ended as Windows does', (text) => text.replace('\n', '\r\n'), null],
    ['with half a pair', (text) => text.replace('Begin', '\\udc00'), /schema: messages holds half of a surrogate/],
    [
      'nested a hundred thousand deep',
      (text) => text.replace('"Begin"', `${'['.repeat(1e5)}${']'.repeat(1e5)}`),
      /schema|unreadable/,
    ],
    ['with a raw NUL', (text) => text.replace('Begin', '\u0000'), /unreadable/],
    ['with a message of 20 MB', (text) => text.replace('Begin', 'x'.repeat(2e7)), null],
  ])('(%s) are judged', async (_, edit, fault) => {
    await put(0, user('Begin'), result());
    await write(rowId(0), edit(await readFile(store.rowPath(rowId(0)), 'utf8')));
    const found = await kinds();
    if (fault === null) expect(found).toEqual([]);
    else expect(found.join('\n')).toMatch(fault);
  });

  it('hide no secret by nesting it deep', async () => {
    let deep: unknown = SECRET;
    for (let n = 0; n < 150; n += 1) deep = [deep];
    await put(0, user('Begin'), { kind: 'result', result: { reason: 'error', deep } });
    expect((await scanRow(store.rowFolder(rowId(0)), rowId(0), [SECRET])).map(({ rule }) => rule)).toEqual([
      'known-secret',
    ]);
  });
});
