import { createHash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  conversation,
  imageBytes,
  listSessions,
  newestSession,
  openSession,
  readLines,
} from '../../src/session/read.ts';
import type { SessionLine, SessionResult } from '../../src/session/types.ts';
import { SessionLog } from '../../src/session/write.ts';

const META = { task: 'Make one machine', model: 'm-1', provider: 'rehearsal', driver: 'custom', workdir: '/checkout' };
const SETTLED: SessionResult = {
  reason: 'settled',
  message: 'done',
  code: 0,
  iterations: 3,
  calls: 2,
  continuations: 0,
  cycles: 0,
  settles: 1,
};
const NOON = new Date('2026-05-04T12:00:00.250Z');

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-session-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function all(path: string): Promise<SessionLine[]> {
  const lines: SessionLine[] = [];
  for await (const line of readLines(path)) lines.push(line);
  return lines;
}

describe('a session log being written', () => {
  it('claims its id from the UTC second and never takes one that is taken', async () => {
    const first = await SessionLog.create(dir, META, NOON);
    const [second, third] = await Promise.all([SessionLog.create(dir, META, NOON), SessionLog.create(dir, META, NOON)]);
    expect(first.id).toBe('20260504-120000');
    expect([second.id, third.id].sort()).toEqual(['20260504-120000-2', '20260504-120000-3']);
    await Promise.all([first.close(), second.close(), third.close()]);
  });

  it('keeps folder and file from everybody else', async () => {
    const folder = join(dir, 'sessions');
    const log = await SessionLog.create(folder, META, NOON);
    await log.putImage(Buffer.from('pixels'), 'image/png');
    await log.close();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(log.path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, `${log.id}.blobs`))).mode & 0o777).toBe(0o700);
  });

  it('reads back line by line as it was recorded, in the order of the calls', async () => {
    const log = await SessionLog.create(dir, META, NOON);
    const message = { type: 'user', text: 'Begin' };
    const calls = [
      log.message(message),
      log.event({ kind: 'iteration', iteration: 1 }),
      log.reset(),
      log.message({ type: 'checkpoint', text: 'so far' }),
      log.result(SETTLED),
    ];
    message.text = 'changed after the call';
    await Promise.all(calls);
    await log.close();
    const lines = await all(log.path);
    expect(lines.map((line) => line.kind)).toEqual(['meta', 'message', 'event', 'reset', 'message', 'result']);
    expect(lines[0]).toMatchObject({ meta: { id: log.id, ...META } });
    expect(lines[1]).toMatchObject({ message: { type: 'user', text: 'Begin' } });
    for (const line of lines) expect(line.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
    expect(Object.keys(JSON.parse((await readFile(log.path, 'utf8')).split('\n')[1] as string))).toEqual([
      'kind',
      'at',
      'message',
    ]);
  });

  it('keeps an image once, named by its hash', async () => {
    const log = await SessionLog.create(dir, META, NOON);
    const bytes = Buffer.from('not really a png');
    const image = await log.putImage(bytes, 'image/jpeg', { width: 10, height: 20, origin: '/tmp/a.jpg' });
    expect(await log.putImage(bytes, 'image/jpeg')).toMatchObject({ digest: image.digest });
    const hex = createHash('sha256').update(bytes).digest('hex');
    expect(image).toEqual({
      media_type: 'image/jpeg',
      digest: `sha256:${hex}`,
      size: bytes.length,
      width: 10,
      height: 20,
      origin: '/tmp/a.jpg',
      source: 'blob',
    });
    expect(await readdir(join(dir, `${log.id}.blobs`))).toEqual([`${hex}.jpg`]);
    expect(await imageBytes(dir, log.id, image)).toEqual(bytes);
    await log.close();
  });

  it('takes the images of the session it continues into its own folder, and leaves those that are lost', async () => {
    const old = await SessionLog.create(dir, META, NOON);
    const kept = await old.putImage(Buffer.from('kept'), 'image/png');
    const lost = { ...kept, digest: `sha256:${'0'.repeat(64)}` };
    const log = await SessionLog.create(dir, { ...META, resumedFrom: old.id }, NOON);
    await log.adoptImages(old.id, [kept, lost, kept]);
    await rm(join(dir, `${old.id}.blobs`), { recursive: true });
    expect(await imageBytes(dir, log.id, kept)).toEqual(Buffer.from('kept'));
    expect(await imageBytes(dir, log.id, lost)).toBeNull();
    await Promise.all([old.close(), log.close()]);
  });

  it('refuses a line after it was closed, and closes twice', async () => {
    const log = await SessionLog.create(dir, META, NOON);
    await Promise.all([log.close(), log.close()]);
    await expect(log.reset()).rejects.toThrow(/closed/);
  });
});

describe('a session log being read', () => {
  const log = async (...lines: (string | object)[]): Promise<string> => {
    const path = join(dir, '20260504-120000.jsonl');
    await writeFile(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
    return path;
  };
  const said = (text: string, at = '2026-05-04T12:00:01.5Z') => ({
    kind: 'message',
    at,
    message: { type: 'bot', text },
  });

  it('gives the frame without the conversation', async () => {
    const path = await log(
      {
        kind: 'meta',
        at: '2026-05-04T12:00:00.123456789Z',
        meta: { id: 'other', ...META, resumedFrom: '20260504-110000' },
      },
      said('one'),
      { kind: 'result', at: '2026-05-04T12:00:09Z', result: SETTLED },
    );
    expect(await openSession(path)).toEqual({
      id: '20260504-120000',
      meta: { id: 'other', ...META, resumedFrom: '20260504-110000' },
      lines: 3,
      messages: 1,
      truncated: false,
      started: '2026-05-04T12:00:00.123456789Z',
      ended: '2026-05-04T12:00:09Z',
      result: SETTLED,
    });
  });

  it('skips blank lines, and a half-written line marks it truncated and loses nothing else', async () => {
    const path = await log(said('one'), '', '   ', '{"kind":"message","at":"2026', said('two'));
    expect((await conversation(path)).map((message) => message.text)).toEqual(['one', 'two']);
    expect((await openSession(path)).truncated).toBe(true);
  });

  it('reads a last line that has no newline', async () => {
    const path = await log(said('one'));
    await appendFile(path, JSON.stringify(said('two')));
    expect((await conversation(path)).length).toBe(2);
    await appendFile(path, '\n{"kind":"mess');
    expect(await openSession(path)).toMatchObject({ lines: 2, truncated: true });
  });

  it('ignores kinds and fields it does not know, and payloads that have another shape', async () => {
    const path = await log(
      { kind: 'weather', at: '2026-05-04T11:00:00Z', weather: 'fine' },
      '42',
      'null',
      '[]',
      '"text"',
      { kind: 'message', at: 5, message: { type: 'bot', text: 7, mood: 'good' } },
      { kind: 'message', message: 'no object' },
      { kind: 'message', message: { type: 'attachment', text: '', images: [null, 4, { digest: 9 }, { digest: 'x' }] } },
      { kind: 'event', event: {} },
      { kind: 'result', result: 'none' },
      { kind: 'meta' },
    );
    expect(await conversation(path)).toEqual([
      { type: 'bot', text: '' },
      { type: 'attachment', text: '', images: [{ digest: 'x', media_type: '', source: 'blob' }] },
    ]);
    expect(await openSession(path)).toMatchObject({ truncated: false, started: '2026-05-04T11:00:00Z', lines: 2 });
  });

  it('takes a line of 16 MiB, and skips a longer one as truncated', async () => {
    const frame = JSON.stringify(said('')).length;
    const path = await log(said('a'.repeat(16 * 1024 * 1024 - frame)));
    expect((await conversation(path)).length).toBe(1);
    await appendFile(path, `${JSON.stringify(said('b'.repeat(16 * 1024 * 1024 - frame + 1)))}\n`);
    await appendFile(path, `${JSON.stringify(said('after'))}\n`);
    expect((await conversation(path)).map((message) => message.text.slice(0, 5))).toEqual(['aaaaa', 'after']);
    expect((await openSession(path)).truncated).toBe(true);
  });

  it('keeps characters whole that a chunk boundary cuts', async () => {
    const text = '√ö😀'.repeat(300_000);
    const path = await log(said('x'), said(text), said(`y${text}`));
    expect((await conversation(path)).map((message) => message.text)).toEqual(['x', text, `y${text}`]);
  });

  it('replays only what follows the last reset', async () => {
    const path = await log(said('old'), { kind: 'reset', at: 'x' }, said('new'));
    expect((await conversation(path)).map((message) => message.text)).toEqual(['new']);
  });

  it('does not follow a link or wait at a pipe', async () => {
    await log(said('one'));
    await symlink(join(dir, '20260504-120000.jsonl'), join(dir, '20260504-130000.jsonl'));
    await expect(openSession(join(dir, '20260504-130000.jsonl'))).rejects.toThrow();
    expect(await listSessions(dir)).toEqual(['20260504-120000']);
  });
});

describe('the sessions of a folder', () => {
  it('are listed by time, and by number within a second', async () => {
    const ids = ['20260504-120000-10', '20260504-120000-2', '20260504-120000', '20260503-235959', '20260504-120001'];
    for (const id of ids) await writeFile(join(dir, `${id}.jsonl`), '');
    await writeFile(join(dir, 'notes.jsonl'), '');
    await mkdir(join(dir, '20260505-000000.jsonl'));
    expect(await listSessions(dir)).toEqual([
      '20260503-235959',
      '20260504-120000',
      '20260504-120000-2',
      '20260504-120000-10',
      '20260504-120001',
    ]);
    expect(await newestSession(dir)).toBe('20260504-120001');
    expect(await newestSession(join(dir, 'nowhere'))).toBeNull();
  });
});

describe('the bytes of an image', () => {
  const id = '20260504-120000';
  const bytes = Buffer.from('pixels');
  const hex = createHash('sha256').update(bytes).digest('hex');
  const image = { media_type: 'image/png', digest: `sha256:${hex}`, source: 'blob' as const };

  it('come from the blob or from the line itself', async () => {
    expect(await imageBytes(dir, id, { ...image, source: 'inline', data: bytes.toString('base64') })).toEqual(bytes);
    await mkdir(join(dir, `${id}.blobs`));
    await writeFile(join(dir, `${id}.blobs`, `${hex}.png`), bytes);
    expect(await imageBytes(dir, id, image)).toEqual(bytes);
  });

  it('are null when they are missing, do not hash to their digest, or the digest is none', async () => {
    expect(await imageBytes(dir, id, image)).toBeNull();
    await mkdir(join(dir, `${id}.blobs`));
    await writeFile(join(dir, `${id}.blobs`, `${hex}.png`), 'other');
    expect(await imageBytes(dir, id, image)).toBeNull();
    expect(await imageBytes(dir, id, { ...image, digest: 'sha256:../../secret' })).toBeNull();
    expect(await imageBytes(dir, id, { ...image, data: 'b3RoZXI=' })).toBeNull();
  });

  it('are never read through a link, be it the file or the folder', async () => {
    await mkdir(join(dir, 'elsewhere'));
    await writeFile(join(dir, 'elsewhere', `${hex}.png`), bytes);
    await mkdir(join(dir, `${id}.blobs`));
    await symlink(join(dir, 'elsewhere', `${hex}.png`), join(dir, `${id}.blobs`, `${hex}.png`));
    expect(await imageBytes(dir, id, image)).toBeNull();
    await rm(join(dir, `${id}.blobs`), { recursive: true });
    await symlink(join(dir, 'elsewhere'), join(dir, `${id}.blobs`));
    expect(await imageBytes(dir, id, image)).toBeNull();
  });
});
