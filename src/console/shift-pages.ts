import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Hono } from 'hono';
import { imageByName } from '../session/blobs.ts';
import { shiftFolder } from '../shift/record.ts';
import { ID_PATTERN } from '../support/ids.ts';
import { frameOf, notFound, sendFile } from './frame.ts';
import { placeId } from './live.ts';
import { type LogLine, logPath, parseLine, tailLines } from './log-file.ts';
import { LARGEST_FILE, changedFilePage } from './pages/change.ts';
import { LIVE_TURNS, liveConversationPage } from './pages/live-conversation.ts';
import { foundPage } from './pages/plain.ts';
import { shiftPage } from './pages/shift.ts';
import { readFilter, shiftsPage } from './pages/shifts.ts';
import type { Room, RoomContext, RoomEnv } from './room.ts';
import { readTail, sessionOf } from './session-tail.ts';
import { DOWNLOADS, SHOT } from './shift-files.ts';
import { typeOf } from './site.ts';

/** Lines that a search in a log shows. */
const MOST_FOUND = 500;

/** The pages of one shift: how it went, what it changed, what was said, what it left. */
export function shiftPages(room: Room): Hono<RoomEnv> {
  const { book, store } = room;
  const { data, timezone: zone } = room.config;
  const noShift = (c: RoomContext) => notFound(room, c, 'There is no such shift.');
  return new Hono<RoomEnv>()
    .get('/', async (c) => {
      const shifts = await book.list();
      return c.html(await shiftsPage(room, await frameOf(room, c, shifts), shifts, readFilter(c.req.query())));
    })
    .get('/:id', async (c) => {
      const record = await book.read(c.req.param('id'));
      if (!record) return noShift(c);
      const shifts = await book.list();
      return c.html(await shiftPage(room, await frameOf(room, c, shifts), record, shifts));
    })
    .get('/:id/log', async (c) => {
      const { id } = c.req.param();
      if (!ID_PATTERN.test(id)) return noShift(c);
      const text = (c.req.query('text') ?? '').slice(0, 200);
      const lines = await search(logPath(data, id), text);
      return c.html(foundPage(await frameOf(room, c), id, { text, lines, more: lines.length === MOST_FOUND, zone }));
    })
    .get('/:id/change/:object', async (c) => {
      const record = await book.read(c.req.param('id'));
      if (!record) return noShift(c);
      // Only what the shift's own change names can be read: an object's id alone opens nothing.
      const file = (await room.line.change(record))?.files.find(({ id }) => id === c.req.param('object'));
      if (!file || file.mode === '160000') return notFound(room, c, 'The shift changed no such file.');
      const small = file.size <= LARGEST_FILE;
      const difference =
        small && file.how === 'changed' && file.before ? await room.line.difference(file.before, file.id) : null;
      const bytes = small ? await room.line.object(file.id) : null;
      return c.html(changedFilePage(await frameOf(room, c), record, { file, bytes, difference }));
    })
    .get('/:id/conversation', async (c) => {
      const record = await book.read(c.req.param('id'));
      if (!record) return noShift(c);
      if (record.verdict !== null && record.session !== null && (await store.has(record.session)))
        return c.redirect(`/rows/${record.session}`, 303);
      const shifts = await book.list();
      const asked = c.req.query('before') ?? '';
      const before = /^\d{1,15}$/.test(asked) ? Number(asked) : null;
      // Before the turns are read: a line that comes meanwhile draws the page again.
      const { next } = await tailLines(logPath(data, record.id), 0);
      const session = await sessionOf(data, record, shifts);
      const tail = session ? await readTail(session, before, LIVE_TURNS) : { turns: [], from: 0, broken: 0 };
      const place = placeId({ shift: record.id, byte: next });
      const frame = await frameOf(room, c, shifts);
      return c.html(liveConversationPage(frame, record, session, tail, { before, place, zone }));
    })
    .get('/:id/seen/:name', async (c) => {
      const record = await book.read(c.req.param('id'));
      const name = c.req.param('name');
      const session = record && (await sessionOf(data, record, await book.list()));
      const bytes = session ? await imageByName(session.folder, session.id, name) : null;
      return bytes ? c.body(new Uint8Array(bytes), 200, { 'content-type': typeOf(name) }) : notFound(room, c);
    })
    .get('/:id/:file', async (c) => {
      const { id, file } = c.req.param();
      const known = ID_PATTERN.test(id) && (SHOT.test(file) || DOWNLOADS.some((name) => name === file));
      return known ? sendFile(c, shiftFolder(data, id), file, () => notFound(room, c)) : notFound(room, c);
    });
}

/** Lines of a log that hold a text, in any case; an empty text finds the whole log's beginning. */
async function search(path: string, text: string): Promise<LogLine[]> {
  const found: LogLine[] = [];
  const word = text.toLowerCase();
  const input = createReadStream(path);
  input.on('error', () => {});
  for await (const each of createInterface({ input })) {
    const line = parseLine(each);
    if (line === null || !`${line.station} ${line.text}`.toLowerCase().includes(word)) continue;
    found.push(line);
    if (found.length === MOST_FOUND) break;
  }
  input.destroy();
  return found;
}
