import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cardStanding, marked } from '../../src/dataset/card-mark.ts';
import { Outbox } from '../../src/dataset/outbox.ts';
import { type ShipOptions, ship } from '../../src/dataset/ship.ts';
import { DatasetStore } from '../../src/dataset/store.ts';
import { attachment, bot, imagePath, result, user, writeImage, writeLog } from '../session/logs.ts';
import { HubServer, TOKEN } from './hub-server.ts';
import { SECRET, block } from './rows.ts';

const REPO = 'factory/sessions';
let dir: string;
let hub: HubServer;
let store: DatasetStore;
let outbox: Outbox;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-ship-'));
  hub = await HubServer.start();
  store = new DatasetStore(join(dir, 'dataset'));
  outbox = new Outbox(dir);
});
afterEach(async () => {
  await hub.stop();
  await rm(dir, { recursive: true, force: true });
});

const id = (n: number) => `20260504-1200${String(n).padStart(2, '0')}`;

async function addRow(n: number, text = `row ${n}`): Promise<string> {
  const sessions = join(dir, 'sessions');
  const image = await writeImage(sessions, id(n), `pixels ${n}`);
  await writeLog(sessions, id(n), [user('Begin'), attachment('/tmp/a-desktop.png', image), bot(text), result()]);
  await store.put(sessions, id(n), block);
  return imagePath(image);
}

const send = (more: Partial<ShipOptions> = {}) =>
  ship({ data: dir, repo: REPO, endpoint: hub.endpoint, token: TOKEN, secrets: [SECRET], ...more });

describe('shipping rows', () => {
  it('makes the dataset and its card with the first rows, one folder a row, in one commit', async () => {
    const image = await addRow(1);
    await addRow(2);
    expect(await send()).toEqual({ shipped: [id(1), id(2)], waiting: [], quarantined: [] });
    expect(hub.repo).toBe(REPO);
    expect(hub.commits.length).toBe(1);
    expect(hub.text(`trajectories/${id(1)}/${id(1)}.jsonl`)).toBe(await readFile(store.rowPath(id(1)), 'utf8'));
    expect(hub.text(`trajectories/${id(1)}/${image}`)).toBe('pixels 1');
    expect(hub.text('README.md')).toContain('2 rows');
    expect(await outbox.ids()).toEqual([]);
    await addRow(3);
    await send();
    expect(hub.commits[1]).toEqual({
      title: `Add row ${id(3)}`,
      paths: [expect.stringContaining('.jsonl'), expect.stringContaining('images/')],
    });
  });

  it('makes a private dataset when asked', async () => {
    await addRow(1);
    await send({ private: true });
    expect(hub.private).toBe(true);
  });

  it('sends nothing again that the hub has, and makes no empty commit', async () => {
    await addRow(1);
    await send();
    await outbox.add(id(1));
    expect(await send()).toMatchObject({ shipped: [id(1)], waiting: [] });
    expect(hub.commits.length).toBe(1);
    expect(await outbox.ids()).toEqual([]);
  });

  it('sends only what the hub lacks of a row', async () => {
    const image = await addRow(1);
    await send();
    hub.files.delete(`trajectories/${id(1)}/${image}`);
    await outbox.add(id(1));
    await send();
    expect(hub.commits[1]?.paths).toEqual([`trajectories/${id(1)}/${image}`]);
  });

  it('keeps both when the hub has a row that says something else, and sends the others', async () => {
    await addRow(1);
    await send();
    const path = `trajectories/${id(1)}/${id(1)}.jsonl`;
    hub.files.set(path, { bytes: Buffer.from('{"other":true}\n'), lfs: false });
    await outbox.add(id(1));
    await addRow(2);
    expect(await send()).toMatchObject({ shipped: [id(2)], waiting: [id(1)], trouble: { code: 'row/different' } });
    expect(hub.text(path)).toBe('{"other":true}\n');
    expect(await store.has(id(1))).toBe(true);
    expect(await outbox.ids()).toEqual([id(1)]);
  });

  it('sends many rows in few commits, oldest first', async () => {
    for (let n = 1; n <= 30; n += 1) await addRow(n);
    const { shipped } = await send();
    expect(shipped).toEqual(Array.from({ length: 30 }, (_, n) => id(n + 1)));
    expect(hub.commits.length).toBe(2);
  });

  it('keeps rows here when there is no hub dataset', async () => {
    await addRow(1);
    expect(await send({ repo: null })).toEqual({ shipped: [], waiting: [id(1)], quarantined: [] });
    expect(hub.requests).toEqual([]);
  });

  it('sends nothing in a dry run', async () => {
    await addRow(1);
    await addRow(2, `I found ${SECRET}`);
    expect(await send({ dryRun: true })).toMatchObject({ shipped: [], waiting: [id(1)], quarantined: [{ id: id(2) }] });
    expect(hub.requests).toEqual(['paths-info']);
    expect(await store.has(id(2))).toBe(true);
    expect(await outbox.scanned(id(1))).toBe(false);
  });

  it('ignores a marker without a row', async () => {
    await outbox.add(id(1));
    expect(await send()).toEqual({ shipped: [], waiting: [], quarantined: [] });
  });
});

describe('the card on the hub', () => {
  const DAY = 86_400_000;
  const card = () => hub.text('README.md') ?? '';
  const older = () => {
    const [, body = '', at = ''] = /^([\s\S]*)\n<!-- machinery card, written (\S+),/.exec(card()) ?? [];
    const bytes = Buffer.from(marked(body, new Date(Date.parse(at) - DAY)));
    hub.files.set('README.md', { bytes, lfs: false });
  };

  it('is written anew with the rows that change it, in their commit, at most once a day', async () => {
    await addRow(1);
    await send();
    await addRow(2);
    expect(await send()).not.toHaveProperty('card');
    expect(card()).toContain('1 rows');
    older();
    await addRow(3);
    expect(await send()).toMatchObject({ shipped: [id(3)], card: 'refreshed' });
    expect(card()).toContain('3 rows');
    expect(hub.commits.at(-1)?.paths).toContain('README.md');
    older();
    await outbox.add(id(3));
    await send();
    expect(hub.commits.length).toBe(3);
  });

  it('is left as it is, and told, when somebody edited it', async () => {
    await addRow(1);
    await send();
    older();
    hub.files.set('README.md', { bytes: Buffer.from(card().replace('# Machinery', '# Our machinery')), lfs: false });
    await addRow(2);
    expect(await send()).toMatchObject({ shipped: [id(2)], card: 'edited' });
    expect(card()).toContain('# Our machinery');
    hub.files.set('README.md', { bytes: Buffer.from('# Mine\n'), lfs: false });
    await addRow(3);
    expect(await send()).toMatchObject({ shipped: [id(3)], card: 'edited' });
    expect(card()).toBe('# Mine\n');
  });

  it('keeps no row from going when it cannot be read', async () => {
    await addRow(1);
    await send();
    hub.fail('resolve', { status: 500 });
    await addRow(2);
    expect(await send()).toEqual({ shipped: [id(2)], waiting: [], quarantined: [] });
  });

  it('is the same card where line ends were changed on the way', () => {
    const now = new Date();
    expect(cardStanding(marked('a\nb', now).replaceAll('\n', '\r\n'), 'a\nb', now)).toBe('same');
    expect(cardStanding(marked('a', now), 'b', now)).toBe('recent');
    expect(cardStanding(marked('a', now), 'b', new Date(now.getTime() + DAY))).toBe('due');
  });
});

describe('a hub that makes trouble', () => {
  it.each([
    ['a wrong token', { token: 'hf_wrong' }, 'hub/denied'],
    ['no token', { token: '' }, 'hub/denied'],
    ['a token of another kind', { token: 'ghp_x' }, 'hub/denied'],
    ['no hub at all', { endpoint: 'http://127.0.0.1:1' }, 'hub/unreachable'],
  ])('(%s) leaves rows in the outbox', async (_, more, code) => {
    await addRow(1);
    const { shipped, waiting, trouble } = await send(more);
    expect({ shipped, waiting }).toEqual({ shipped: [], waiting: [id(1)] });
    expect(trouble?.code).toBe(code);
    expect(JSON.stringify(trouble)).not.toContain('hf_wrong');
    expect(await send()).toMatchObject({ shipped: [id(1)] });
  });

  it.each([
    ['paths-info', { status: 401 }, 'hub/denied'],
    ['paths-info', { status: 500 }, 'hub/busy'],
    ['paths-info', 'cut', 'hub/unreachable'],
    ['create', { status: 403 }, 'hub/denied'],
    ['create', 'cut', 'hub/unreachable'],
    ['preupload', { status: 403 }, 'hub/denied'],
    ['preupload', { status: 502 }, 'hub/busy'],
    ['lfs-batch', { status: 503 }, 'hub/busy'],
    ['lfs-batch', 'cut', 'hub/unreachable'],
    ['lfs-put', { status: 500 }, 'hub/busy'],
    ['lfs-put', 'cut', 'hub/unreachable'],
    ['commit', { status: 400 }, 'hub/refused'],
    ['commit', { status: 409 }, 'hub/busy'],
    ['commit', { status: 412 }, 'hub/busy'],
    ['commit', { status: 429 }, 'hub/busy'],
    ['commit', 'cut', 'hub/unreachable'],
  ] as const)('at %s with %o loses no row and sends none twice', async (route, fault, code) => {
    await addRow(1);
    hub.fail(route, fault);
    const { shipped, waiting, trouble } = await send();
    expect({ shipped, waiting, code: trouble?.code }).toEqual({ shipped: [], waiting: [id(1)], code });
    expect(trouble?.message).not.toMatch(/signed|127\.0\.0\.1/);
    expect(hub.commits.length).toBe(0);
    expect(await send()).toMatchObject({ shipped: [id(1)], waiting: [] });
    expect(hub.commits.length).toBe(1);
  });

  it('whose answer to a commit is lost has the row once', async () => {
    await addRow(1);
    hub.fail('commit', 'cut-after');
    expect(await send()).toMatchObject({ waiting: [id(1)] });
    expect(await send()).toMatchObject({ shipped: [id(1)] });
    expect(hub.commits.length).toBe(1);
  });

  it('that asks to wait is left alone until then', async () => {
    await addRow(1);
    hub.fail('commit', { status: 429, headers: { 'Retry-After': '600' } });
    expect(await send()).toMatchObject({ trouble: { code: 'hub/busy' } });
    const asked = hub.requests.length;
    expect(await send()).toMatchObject({ waiting: [id(1)], trouble: { code: 'hub/busy' } });
    expect(hub.requests.length).toBe(asked);
    await outbox.wait(new Date(Date.now() - 1000));
    expect(await send()).toMatchObject({ shipped: [id(1)] });
  });
});

describe('a row with a secret in it', () => {
  it('is held, and the others go; neither what is told nor what is written names the secret', async () => {
    await addRow(1, `The key is ${SECRET}.`);
    await addRow(2);
    const told = await send();
    expect(told).toEqual({
      shipped: [id(2)],
      waiting: [],
      quarantined: [{ id: id(1), rule: 'known-secret', place: 'messages[2].content' }],
    });
    expect(await store.has(id(1))).toBe(false);
    expect(await store.made(id(1))).toBe(true);
    expect((await readdir(join(dir, 'quarantine', id(1)))).sort()).toEqual([`${id(1)}.jsonl`, 'held.json', 'images']);
    expect(await readFile(join(dir, 'quarantine', id(1), 'held.json'), 'utf8')).not.toContain(SECRET);
    expect([...hub.files.keys()].some((path) => path.includes(id(1)))).toBe(false);
    // It is told once: the next shift is not red for it.
    expect(await send()).toEqual({ shipped: [], waiting: [], quarantined: [] });
  });

  it('is held also where nothing is shipped', async () => {
    await addRow(1, `The key is ${SECRET}.`);
    expect(await send({ repo: null })).toMatchObject({ waiting: [], quarantined: [{ id: id(1) }] });
  });

  it('that became known while it waited does not leave', async () => {
    await addRow(1, 'The key is later-known-secret.');
    await send({ repo: null });
    expect(await send({ secrets: ['later-known-secret'] })).toMatchObject({
      shipped: [],
      quarantined: [{ id: id(1) }],
    });
    expect(hub.commits.length).toBe(0);
  });

  it('in a file beside it is not sent', async () => {
    await addRow(1);
    await writeFile(join(store.rowFolder(id(1)), 'notes.txt'), SECRET);
    await send();
    expect([...hub.files.keys()].some((path) => path.includes('notes'))).toBe(false);
  });
});
