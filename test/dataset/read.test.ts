import { appendFile, cp, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cardOf } from '../../src/dataset/card.ts';
import { type Critique, critiquesOf } from '../../src/dataset/critiques.ts';
import { filterRows, sinceOf } from '../../src/dataset/filter.ts';
import { rowJsonSchema } from '../../src/dataset/schema.ts';
import { shelfOf } from '../../src/dataset/shelf.ts';
import { conversationText } from '../../src/dataset/show.ts';
import { query } from '../../src/dataset/sql.ts';
import { DatasetStore } from '../../src/dataset/store.ts';
import { tally, tallyByModel } from '../../src/dataset/tally.ts';
import { validateRows } from '../../src/dataset/validate.ts';
import { bot, user, writeLog } from '../session/logs.ts';
import { MACHINE, block, picture, rowId, tenRows } from './rows.ts';

let dir: string;
let store: DatasetStore;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-rows-'));
  store = await tenRows(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
const all = (...numbers: number[]) => numbers.map(rowId);

describe('rows by the filters of the card', () => {
  it.each([
    ['all', {}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['finished machines', { finished: true }, [0, 2, 5]],
    ['tips', { tips: true }, [0, 2, 3, 4, 5, 6, 9]],
    ['partial', { partial: true }, [1, 4, 7]],
    ['of a model', { model: 'model-2' }, [3]],
    ['since', { since: new Date('2026-05-04T08:00:00Z') }, [8, 9]],
    ['two at once', { finished: true, since: new Date('2026-05-04T01:00:00Z') }, [2, 5]],
  ])('%s', async (_, filter, expected) => {
    expect(ids(filterRows(await store.list(), filter))).toEqual(all(...expected));
  });

  it('understand a day, a time and how far back', () => {
    const now = new Date('2026-05-04T12:00:00Z');
    expect(sinceOf('2026-05-01').toISOString()).toBe('2026-05-01T00:00:00.000Z');
    expect(sinceOf('36h', now).toISOString()).toBe('2026-05-03T00:00:00.000Z');
    expect(sinceOf('7d', now).toISOString()).toBe('2026-04-27T12:00:00.000Z');
    expect(() => sinceOf('yesterday')).toThrow(expect.objectContaining({ code: 'usage/invalid' }));
  });
});

describe('the index of the rows', () => {
  let copy: string;
  beforeEach(async () => {
    copy = await mkdtemp(join(dir, 'copy-'));
  });

  it('tells the same whether it was kept or is made anew', async () => {
    const data = join(copy, 'a');
    const kept = await tenRows(data);
    const before = await kept.list();
    await rm(join(data, 'dataset', 'index.ndjson'));
    const after = await new DatasetStore(join(data, 'dataset')).list();
    expect(after).toEqual(before);
    expect((await readFile(join(data, 'dataset', 'index.ndjson'), 'utf8')).trim().split('\n').length).toBe(10);
  });

  it('heals from a line cut by a crash, a row that is gone, and a row that nobody told it of', async () => {
    const data = join(copy, 'b');
    const kept = await tenRows(data);
    await appendFile(join(data, 'dataset', 'index.ndjson'), '{"id":"20260504-0');
    await rm(kept.rowFolder(rowId(0)), { recursive: true });
    const other = new DatasetStore(join(copy, 'other'));
    await writeLog(join(copy, 's'), rowId(30), [user('Begin'), bot('x')]);
    await other.put(join(copy, 's'), rowId(30), block);
    await rename(other.rowFolder(rowId(30)), kept.rowFolder(rowId(30)));
    expect(ids(await kept.list())).toEqual(all(1, 2, 3, 4, 5, 6, 7, 8, 9, 30));
  });

  it('leaves out what is no row, and sweeps what a dead process left', async () => {
    const data = join(copy, 'c');
    const kept = await tenRows(data);
    await mkdir(join(kept.trajectories, rowId(40)));
    await writeFile(join(kept.trajectories, rowId(40), `${rowId(40)}.jsonl`), '{"id":');
    await mkdir(join(kept.trajectories, `.${rowId(41)}.0123456789ab.tmp`));
    expect((await kept.list()).length).toBe(10);
    await kept.sweep();
    expect((await readdir(kept.trajectories)).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('what the rows come to', () => {
  it('is counted in all and by model', async () => {
    const rows = await store.list();
    expect(tally(rows)).toMatchObject({
      rows: 10,
      tips: 7,
      finished: 3,
      partial: 3,
      outcomes: { settled: 4, failed: 1, aborted: 1, time: 1, '': 3 },
      images: 21,
      cost: 5,
      tokens: { input: 10_000, output: 1000 },
      findings: { 'look/overflow': 20 },
    });
    expect(tallyByModel(rows).map(({ model, tally: sum }) => [model, sum.rows, sum.tips])).toEqual([
      ['model-1', 9, 6],
      ['model-2', 1, 1],
    ]);
  });

  it('is told by the card, with a header that the hub can read', async () => {
    const card = await cardOf(store);
    expect(card).toMatch(/^---\nlicense: mit\n[\s\S]*\nviewer: false\n---\n/);
    expect(card).toContain(
      '10 rows, from 2026-05-04 to 2026-05-04: 3 finished machines, 3 shifts without a result, 7 tips',
    );
    expect(card).toContain('| `rehearsal` | `model-2` | 1 | 0 |');
    expect(card).toContain('https://example.org/factory.git');
    expect(await cardOf(store, { normalised: true })).toContain('data_files: normalised/*/*.parquet');
  });

  it('is a shelf, compared with the one on the site', async () => {
    const rows = await store.list();
    const entry = (more: object) => ({ ...MACHINE, ...more }) as never;
    expect(shelfOf(rows, [entry({})])).toEqual({ entries: [MACHINE], onlyInRows: [], onlyOnSite: [], different: [] });
    expect(shelfOf(rows, [entry({ kind: 'lock' }), entry({ slug: 'dry-dock' })])).toMatchObject({
      onlyOnSite: ['dry-dock'],
      different: ['tide-gate'],
    });
    expect(shelfOf(rows, [])).toMatchObject({ onlyInRows: ['tide-gate'] });
  });
});

async function critiques(): Promise<Critique[]> {
  const found: Critique[] = [];
  for (const id of await store.ids()) for await (const each of critiquesOf(id, store.rowPath(id))) found.push(each);
  return found;
}

describe('a row being read', () => {
  it('gives each look at a screenshot with its image and what the model made of it', async () => {
    const found = await critiques();
    expect(found.map(({ row }) => row)).toEqual(all(0, 0, 0, 2, 2, 2, 5, 5, 5, 7, 7, 7, 9, 9, 9));
    expect(found[1]).toEqual({
      row: rowId(0),
      at: 5,
      path: '/tmp/machinery/tide-gate-phone.png',
      image: expect.stringMatching(/^images\/[0-9a-f]{64}\.png$/),
      reasoning: 'The legend is too faint.',
      said: 'I darken it.',
      did: ['write'],
    });
    const bytes = await readFile(join(store.rowFolder(rowId(0)), found[1]?.image as string));
    expect(bytes).toEqual(picture('tide-gate phone 0'));
  });

  it('can be read by a person, and drives no terminal', async () => {
    const sessions = join(dir, 'odd');
    await writeLog(sessions, rowId(50), [bot('\u001b]0;title\u0007 done')]);
    const odd = new DatasetStore(join(dir, 'odd-data', 'dataset'));
    await odd.put(sessions, rowId(50), block);
    let text = '';
    for await (const told of conversationText(odd.rowPath(rowId(50)))) text += told;
    expect(text).toBe('[0] assistant\n    \ufffd]0;title\ufffd done\n');
    text = '';
    for await (const told of conversationText(store.rowPath(rowId(0)))) text += told;
    expect(text).toContain('> view {"path":"/tmp/machinery/tide-gate-desktop.png"}');
    expect(text).toMatch(/<image images\/[0-9a-f]{64}\.png>/);
  });
});

describe('SQL over the rows', () => {
  const one = async (sql: string) => Object.values((await query(store, sql))[0] ?? {})[0];

  it('counts as the plain commands do', async () => {
    const sum = tally(await store.list());
    expect(Number(await one('SELECT count(*) FROM rows'))).toBe(sum.rows);
    expect(Number(await one('SELECT count(*) FROM tips'))).toBe(sum.tips);
    expect(Number(await one('SELECT count(*) FROM finished'))).toBe(sum.finished);
    expect(Number(await one('SELECT count(*) FROM rows WHERE NOT complete'))).toBe(sum.partial);
    const messages = (await store.list()).reduce((total, { counts }) => total + counts.messages, 0);
    expect(Number(await one('SELECT count(*) FROM messages'))).toBe(messages);
    const looks = await query(store, 'SELECT id, n, path, reasoning, said FROM critiques ORDER BY id, n');
    expect(looks.map(({ id, n, path, said }) => [id, Number(n), path, said])).toEqual(
      (await critiques()).map(({ row, at, path, said }) => [row, at, path, said]),
    );
  });

  it('says what is wrong with a query', async () => {
    await expect(query(store, 'SELECT nothing FROM rows')).rejects.toMatchObject({ code: 'usage/invalid' });
  });
});

describe('rows being checked', () => {
  let folder: string;
  beforeEach(async () => {
    const data = await mkdtemp(join(dir, 'check-'));
    folder = join(data, 'trajectories');
    await cp(store.trajectories, folder, { recursive: true });
  });
  const path = (n: number) => join(folder, rowId(n), `${rowId(n)}.jsonl`);
  const change = async (n: number, edit: (row: Record<string, never> & { [key: string]: unknown }) => void) => {
    const row = JSON.parse(await readFile(path(n), 'utf8'));
    edit(row);
    await writeFile(path(n), `${JSON.stringify(row)}\n`);
  };
  const kinds = async () => (await validateRows(folder)).faults.map(({ row, kind }) => [row, kind]);

  it('are right as the factory makes them', async () => {
    expect(await validateRows(folder)).toEqual({ rows: 10, faults: [] });
  });

  it.each<[string, string, (row: Record<string, unknown>) => void]>([
    ['a missing key', 'schema', (row) => void delete row.task],
    ['no messages', 'schema', (row) => void delete row.messages],
    ['a key too many', 'schema', (row) => void Object.assign(row, { extra: 1 })],
    [
      'a message of another shape',
      'schema',
      (row) => void Object.assign((row.messages as object[])[0] ?? {}, { content: 7 }),
    ],
    ['an outcome that is not told', 'schema', (row) => void Object.assign(row, { complete: false })],
    [
      'a gate that says something else',
      'schema',
      (row) => void Object.assign(row.machinery as object, { probe: 'maybe' }),
    ],
    [
      'an answer to no call',
      'answers',
      (row) => void Object.assign((row.messages as object[])[2] ?? {}, { tool_call_id: 'x' }),
    ],
    ['another id', 'chain', (row) => void Object.assign(row, { id: rowId(60), chain: [rowId(60)] })],
    ['a chain that ends elsewhere', 'chain', (row) => void Object.assign(row, { chain: [rowId(0), rowId(1)] })],
    ['a chain that names a session twice', 'chain', (row) => void Object.assign(row, { chain: [rowId(0), rowId(0)] })],
    ['an image that is not listed', 'images', (row) => void (row.images as string[]).pop()],
  ])('%s is a fault', async (_, kind, edit) => {
    await change(0, edit);
    const found = await kinds();
    expect(found.length).toBeGreaterThan(0);
    expect(found).toContainEqual([rowId(0), kind]);
  });

  it('an image that is gone, spoilt or too many is a fault', async () => {
    const images = join(folder, rowId(0), 'images');
    const [first, second] = (await readdir(images)) as [string, string];
    await rm(join(images, first));
    await writeFile(join(images, second), 'spoilt');
    await writeFile(join(images, 'more.png'), '');
    expect(await kinds()).toEqual([1, 2, 3].map(() => [rowId(0), 'images']));
  });

  it('two rows of one id are a fault', async () => {
    await change(3, (row) => Object.assign(row, { id: rowId(0), chain: [rowId(0)] }));
    expect(await kinds()).toContainEqual([rowId(3), 'twice']);
  });

  it('two rows that tell a chain differently are a fault', async () => {
    await change(8, (row) => Object.assign(row, { chain: [rowId(6), rowId(8)] }));
    expect(await kinds()).toEqual([[rowId(9), 'chain']]);
  });

  it.each([
    ['half a row', (text: string) => text.slice(0, 500)],
    ['no JSON', () => 'hello\n'],
    ['nothing', () => ''],
    ['two lines', (text: string) => text + text],
    ['a list', () => '[]\n'],
    ['messages that are no list', () => '{"messages":"none"}\n'],
  ])('%s is told as unreadable', async (_, edit) => {
    await writeFile(path(0), edit(await readFile(path(0), 'utf8')));
    expect(await kinds()).toEqual([[rowId(0), 'unreadable']]);
  });
});

describe('the published schema', () => {
  it('is the one that rows are checked with', async () => {
    const published = JSON.parse(await readFile(new URL('../../docs/row.schema.json', import.meta.url), 'utf8'));
    expect(published).toEqual(JSON.parse(JSON.stringify(rowJsonSchema())));
  });
});
