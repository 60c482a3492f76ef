import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportOpenai, exportParquet } from '../../src/dataset/normalised.ts';
import { type OpenAIMessage, disorder } from '../../src/dataset/openai.ts';
import { ship } from '../../src/dataset/ship.ts';
import { openSource } from '../../src/dataset/source.ts';
import type { DatasetStore } from '../../src/dataset/store.ts';
import { HubServer, TOKEN } from './hub-server.ts';
import { picture, rowId, tenRows } from './rows.ts';

let dir: string;
let store: DatasetStore;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-normalised-'));
  store = await tenRows(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function sql(text: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(text)).getRowObjectsJson() as Record<string, unknown>[];
  connection.closeSync();
  instance.closeSync();
  return rows;
}

describe('rows as Parquet', () => {
  it('have one type a column and say what the rows say', async () => {
    const { files } = await exportParquet(store, await store.list(), join(dir, 'parquet'));
    expect(files.length).toBe(1);
    const from = `FROM '${files[0]}'`;
    const types = await sql(`DESCRIBE SELECT * ${from}`);
    expect(Object.fromEntries(types.map((row) => [row.column_name, row.column_type]))).toMatchObject({
      id: 'VARCHAR',
      chain: 'VARCHAR[]',
      complete: 'BOOLEAN',
      images: 'STRUCT(bytes BLOB, path VARCHAR)[]',
      messages: expect.stringMatching(/^STRUCT\("?role"? VARCHAR.*tool_calls STRUCT\(.*\)\[\].*\)\[\]$/),
    });
    const summaries = await store.list();
    const rows = await sql(`SELECT id, len(messages) AS messages, len(images) AS images, len(snapshots) AS snapshots,
      coalesce(list_sum(list_transform(messages, m -> len(m.tool_calls))), 0) AS calls, outcome, complete ${from} ORDER BY id`);
    expect(
      rows.map((row) => [
        row.id,
        Number(row.messages),
        Number(row.images),
        Number(row.snapshots),
        Number(row.calls),
        row.outcome,
      ]),
    ).toEqual(
      summaries.map(({ id, counts, outcome }) => [
        id,
        counts.messages,
        counts.images,
        counts.snapshots,
        counts.calls,
        outcome,
      ]),
    );
    const [image] = await sql(
      `SELECT images[1].path AS path, base64(images[1].bytes) AS bytes ${from} WHERE id = '${rowId(0)}'`,
    );
    expect(image?.bytes).toBe(await readFile(join(store.rowFolder(rowId(0)), String(image?.path)), 'base64'));
    const [told] = await sql(
      `SELECT messages[2].tool_calls[1].arguments AS args, machinery_json->>'probe' AS probe ${from} WHERE id = '${rowId(0)}'`,
    );
    expect(told).toEqual({ args: '{"path":"site/machines.json"}', probe: 'success' });
  });
});

describe("rows in OpenAI's shape", () => {
  const lines = async (folder: string) =>
    (await readFile(join(folder, 'rows.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; messages: OpenAIMessage[] });

  it('keep the order of a chat, with images as data', async () => {
    const out = join(dir, 'openai');
    const { left } = await exportOpenai(store, await store.list(), out, false);
    expect(left).toEqual([]);
    const rows = await lines(out);
    expect(rows.length).toBe(10);
    for (const { messages } of rows) expect(disorder(messages)).toBeNull();
    const shown = rows[0]?.messages.find(({ content }) => Array.isArray(content))?.content as {
      image_url?: { url: string };
    }[];
    expect(shown[1]?.image_url?.url).toBe(`data:image/png;base64,${picture('tide-gate desktop 0').toString('base64')}`);
    // The call of row 1 that was never answered is gone.
    expect(JSON.stringify(rows[1])).not.toContain('c9');
    expect(Object.keys(rows[0]?.messages[1] ?? {})).toEqual(['role', 'content', 'tool_calls']);
  });

  it('can have their images as files', async () => {
    const out = join(dir, 'openai-files');
    await exportOpenai(store, await store.list(), out, true);
    const text = await readFile(join(out, 'rows.jsonl'), 'utf8');
    const named = new Set(
      [...text.matchAll(/"url":"(images\/[^"]+)"/g)].map((match) => match[1]?.slice('images/'.length)),
    );
    expect([...named].sort()).toEqual((await readdir(join(out, 'images'))).sort());
    expect(named.size).toBe(15);
  });

  it.each<[string, OpenAIMessage[], RegExp | null]>([
    ['nothing', [], null],
    [
      'a chat',
      [
        { role: 'system', content: 's' },
        { role: 'user', content: 'u' },
        { role: 'assistant', content: 'a' },
      ],
      null,
    ],
    [
      'two users',
      [
        { role: 'user', content: 'u' },
        { role: 'user', content: 'u' },
      ],
      /second of user/,
    ],
    ['an answer to nothing', [{ role: 'tool', content: 't', tool_call_id: 'x' }], /no open call/],
    [
      'a call without its answer',
      [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '' } }],
        },
      ],
      /never answered/,
    ],
    [
      'somebody between a call and its answer',
      [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '' } }],
        },
        { role: 'user', content: 'u' },
      ],
      /before the call x is answered/,
    ],
  ])('%s is judged', (_, messages, trouble) => {
    if (trouble === null) expect(disorder(messages)).toBeNull();
    else expect(disorder(messages)).toMatch(trouble);
  });
});

describe('a dataset on the hub', () => {
  it('is read as the local one is, with its normalised copies beside it', async () => {
    const hub = await HubServer.start();
    try {
      const options = { data: dir, repo: 'factory/sessions', endpoint: hub.endpoint, token: TOKEN, secrets: [] };
      expect((await ship({ ...options, normalised: true })).shipped.length).toBe(10);
      expect(hub.files.has(`normalised/2026-05/${rowId(0)}.parquet`)).toBe(true);
      hub.files.set('trajectories/../../evil.jsonl', { bytes: Buffer.from('x'), lfs: false });
      hub.files.set(`trajectories/${rowId(0)}/notes.txt`, { bytes: Buffer.from('x'), lfs: false });
      const source = {
        data: join(dir, 'reader'),
        source: 'hub:factory/sessions',
        endpoint: hub.endpoint,
        token: TOKEN,
      };
      const remote = await openSource({ ...source, images: true });
      expect(await remote.list()).toEqual((await store.list()).map((row) => ({ ...row, looked: expect.anything() })));
      expect((await readdir(remote.rowFolder(rowId(0)))).sort()).toEqual([`${rowId(0)}.jsonl`, 'images']);
      const asked = hub.requests.length;
      await openSource(source);
      // The list of files, and nothing that is here already.
      expect(hub.requests.slice(asked)).toEqual(['tree']);
    } finally {
      await hub.stop();
    }
  });

  it('must be named as one', async () => {
    await expect(openSource({ data: dir, source: 'hub:nothing' })).rejects.toMatchObject({ code: 'usage/invalid' });
  });
});
