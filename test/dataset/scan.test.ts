import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Outbox } from '../../src/dataset/outbox.ts';
import { redactRow } from '../../src/dataset/redact-row.ts';
import { scanRow } from '../../src/dataset/scan.ts';
import { ship } from '../../src/dataset/ship.ts';
import { DatasetStore } from '../../src/dataset/store.ts';
import type { Row } from '../../src/trajectory/types.ts';
import {
  type Line,
  attachment,
  bot,
  call,
  checkpoint,
  imagePath,
  request,
  reset,
  result,
  user,
  writeImage,
  writeLog,
} from '../session/logs.ts';
import { SECRET, block } from './rows.ts';

const ID = '20260504-120000';
// Put together here so that no scanner takes this file for a leak.
const GITHUB = `ghp_${'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6'}`;

let dir: string;
let store: DatasetStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-scan-'));
  store = new DatasetStore(join(dir, 'dataset'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function put(...lines: Line[]): Promise<void> {
  await writeLog(join(dir, 'sessions'), ID, [...lines, result()]);
  await store.put(join(dir, 'sessions'), ID, block);
}

const scan = () => scanRow(store.rowFolder(ID), ID, [SECRET]);
const base64 = (before: string) => Buffer.from(`${before}${SECRET}after`).toString('base64');

describe('a known secret', () => {
  it.each([
    ['raw', `key ${SECRET} end`],
    ['in base64', base64('')],
    ['in base64, one byte on', base64('x')],
    ['in base64, two bytes on', base64('xy')],
    ['in URL-safe base64', base64('').replaceAll('+', '-').replaceAll('/', '_')],
    ['URL-encoded', `https://x/?k=${encodeURIComponent(SECRET)}`],
    ['JSON-escaped', JSON.stringify({ key: SECRET })],
    ['in hex', Buffer.from(SECRET).toString('hex')],
    ['in upper-case hex', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ])('is found %s, with its place', async (_, text) => {
    await put(user('Begin'), bot(text));
    expect(await scan()).toEqual([{ rule: 'known-secret', place: 'messages[1].content' }]);
  });

  it('is found in arguments, also where escapes spell it', async () => {
    const spelt = [...SECRET].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    await put(...call('c1', 'write', { content: SECRET }), request('c2', 'write', `{"content":"${spelt}"}`));
    expect((await scan()).map(({ place }) => place)).toEqual([
      'messages[0].tool_calls[0].function.arguments',
      'messages[0].tool_calls[0].function.arguments (decoded).content',
      'messages[2].tool_calls[0].function.arguments (decoded).content',
    ]);
  });

  it('is found in snapshots, in the outcome and in the files of the machine', async () => {
    await writeLog(join(dir, 'sessions'), ID, [
      user('a'),
      bot(SECRET),
      reset,
      checkpoint('c'),
      result({ error: SECRET }),
    ]);
    await store.put(join(dir, 'sessions'), ID, (facts) => ({ ...block(facts), files: { 'machine.js': SECRET } }));
    expect((await scan()).map(({ place }) => place)).toEqual([
      'outcome.error',
      'snapshots[0][1].content',
      'machinery.files.machine.js',
    ]);
  });

  it('is found in the bytes of an image and in the name of a file', async () => {
    const image = await writeImage(join(dir, 'sessions'), ID, `PNG${SECRET}`);
    await put(attachment('/a.png', image));
    await writeFile(join(store.rowFolder(ID), Buffer.from(SECRET).toString('hex')), '');
    expect(await scan()).toEqual(
      expect.arrayContaining([
        { rule: 'known-secret', place: imagePath(image) },
        { rule: 'known-secret', place: 'the name of a file' },
      ]),
    );
  });

  it('is never in the place that is told', async () => {
    await writeLog(join(dir, 'sessions'), ID, [{ kind: 'result', result: { reason: 'error', [SECRET]: SECRET } }]);
    await store.put(join(dir, 'sessions'), ID, block);
    const hits = await scan();
    expect(hits.length).toBeGreaterThan(0);
    expect(JSON.stringify(hits)).not.toContain(JSON.stringify(SECRET).slice(1, -1));
  });

  it('is not seen where there is none', async () => {
    await put(user('Begin'), bot('All is well.'), ...call('c', 'read', { path: 'a' }, { b: [1, null] }));
    expect(await scan()).toEqual([]);
  });
});

describe('a token nobody told us about', () => {
  it('is found by the rule that knows its kind', async () => {
    await put(user('Begin'), ...call('c', 'shell', { command: 'env' }, `GITHUB_TOKEN=${GITHUB}`));
    expect(await scan()).toEqual([{ rule: 'github/github-token', place: 'messages[2].content' }]);
  });

  it('is found behind a comment that would switch the rules off', async () => {
    await put(bot(`/* secretlint-disable */\n${GITHUB}\n/* secretlint-enable */`));
    expect((await scan()).length).toBe(1);
  });

  it('is found among more text than is looked at in one go', async () => {
    const filler = bot('pressure = clamp(pressure + dt, 0, 12);\n'.repeat(8000));
    await put(filler, user('go on'), filler, user('go on'), bot(GITHUB), user('go on'), filler);
    expect(await scan()).toEqual([{ rule: 'github/github-token', place: 'messages[4].content' }]);
  });
});

describe('redacting a held row', () => {
  const held = async (): Promise<void> => {
    expect((await ship({ data: dir, repo: null, secrets: [SECRET] })).quarantined.length).toBe(1);
  };
  const rowOf = async (): Promise<Row> => JSON.parse(await readFile(store.rowPath(ID), 'utf8')) as Row;

  it('takes every hit out, counts them in the row, and lets it go', async () => {
    const image = await writeImage(join(dir, 'sessions'), ID, `PNG${SECRET}`);
    const clean = await writeImage(join(dir, 'sessions'), ID, 'PNG');
    const spelt = `{"a":"${[...SECRET].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`;
    await put(
      user(`old ${SECRET}`),
      reset,
      checkpoint('older'),
      reset,
      user('Begin'),
      ...call('c1', 'write', { content: `x${SECRET}y`, path: 'a' }, `token ${GITHUB}, ${encodeURIComponent(SECRET)}`),
      request('c2', 'write', spelt),
      attachment('/a.png', image, clean),
    );
    const before = await readFile(store.rowPath(ID), 'utf8');
    await held();
    const counts = await redactRow(dir, ID, [SECRET]);
    const after = await readFile(store.rowPath(ID), 'utf8');
    const row = await rowOf();
    expect(counts['github/github-token']).toBe(1);
    expect(counts['known-secret']).toBe(5);
    expect(row.machinery?.shift?.redactions).toEqual(counts);
    expect(Object.keys(row)).toEqual(Object.keys(JSON.parse(before)));
    expect(row.snapshots?.map((messages) => messages.length)).toEqual([1, 1]);
    expect(row.snapshots?.[0]?.[0]?.content).toBe('old [redacted:known-secret]');
    expect(JSON.parse(row.messages[1]?.tool_calls?.[0]?.function.arguments ?? '')).toEqual({
      content: 'x[redacted:known-secret]y',
      path: 'a',
    });
    expect(row.messages[2]?.content).toBe('token [redacted:github/github-token], [redacted:known-secret]');
    expect(row.messages[3]?.tool_calls?.[0]?.function.arguments).toBe('{"a":"[redacted:known-secret]"}');
    expect(row.images).toEqual([imagePath(clean)]);
    expect(row.messages[4]?.content).toEqual([
      { type: 'text', text: '/a.png' },
      { type: 'text', text: '[redacted:known-secret]' },
      { type: 'image', image: imagePath(clean) },
    ]);
    expect(after.endsWith('}\n')).toBe(true);
    expect(await readdir(join(store.rowFolder(ID), 'images'))).toEqual([imagePath(clean).slice(7)]);
    expect(await readdir(join(dir, 'quarantine'))).toEqual([]);
    expect(await new Outbox(dir).ids()).toEqual([ID]);
    expect((await ship({ data: dir, repo: null, secrets: [SECRET] })).waiting).toEqual([ID]);
  });

  it('changes nothing else: a row is the same but for its hits', async () => {
    await put(user(`a ${SECRET} b`), ...call('c', 'read', { path: 'é\\"\n' }, { deep: [1.5, true, null] }));
    const before = (await rowOf()) as Row;
    await held();
    await redactRow(dir, ID, [SECRET]);
    const after = await rowOf();
    expect(after.messages[0]?.content).toBe('a [redacted:known-secret] b');
    expect({ ...after, machinery: 0, messages: after.messages.slice(1) }).toEqual({
      ...before,
      machinery: 0,
      messages: before.messages.slice(1),
    });
  });

  it('keeps an empty conversation', async () => {
    await put(user(SECRET), reset);
    await held();
    await redactRow(dir, ID, [SECRET]);
    expect(await rowOf()).toMatchObject({ messages: [], snapshots: [[{ content: '[redacted:known-secret]' }]] });
  });

  it('leaves a row held when something is still found', async () => {
    await writeLog(join(dir, 'sessions'), ID, [{ kind: 'result', result: { reason: 'error', [SECRET]: 1 } }]);
    await store.put(join(dir, 'sessions'), ID, block);
    await held();
    await expect(redactRow(dir, ID, [SECRET])).rejects.toMatchObject({ code: 'row/secret' });
    expect(await store.has(ID)).toBe(false);
    expect(await readdir(join(dir, 'quarantine', ID))).toContain('held.json');
    expect(await new Outbox(dir).ids()).toEqual([]);
  });

  it('knows no row that is not held', async () => {
    await put(user('Begin'));
    await expect(redactRow(dir, ID, [SECRET])).rejects.toMatchObject({ code: 'row/unknown' });
    await expect(redactRow(dir, '../x', [SECRET])).rejects.toMatchObject({ code: 'session/invalid-id' });
  });

  it('can be done again after a crash between its steps', async () => {
    await put(user(SECRET));
    await held();
    await cp(join(dir, 'quarantine', ID), join(dir, 'copy'), { recursive: true });
    await redactRow(dir, ID, [SECRET]);
    const once = await readFile(store.rowPath(ID), 'utf8');
    await cp(join(dir, 'copy'), join(dir, 'quarantine', ID), { recursive: true });
    await redactRow(dir, ID, [SECRET]);
    expect(await readFile(store.rowPath(ID), 'utf8')).toBe(once);
  });
});
