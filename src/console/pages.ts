import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { Outbox } from '../dataset/outbox.ts';
import { Quarantine } from '../dataset/quarantine.ts';
import { shiftFolder } from '../shift/record.ts';
import { ID_PATTERN } from '../support/ids.ts';
import { PACKAGE_ROOT } from '../support/self.ts';
import { lookAtAlarms } from './causes.ts';
import { readConversation, readLooks } from './conversation.ts';
import { safeNext } from './guard/who.ts';
import { type LogLine, logPath, parseLine } from './log-file.ts';
import { IMAGE, conversationPage, critiquesPage } from './pages/conversation.ts';
import { linePage } from './pages/line.ts';
import { doctorPage, foundPage, nothingPage, signInPage } from './pages/plain.ts';
import { readRowFilter, rowsPage } from './pages/rows.ts';
import { shiftPage } from './pages/shift.ts';
import { readFilter, shiftsPage } from './pages/shifts.ts';
import type { Frame } from './parts/layout.ts';
import type { Room, RoomContext, RoomEnv } from './room.ts';
import type { ShiftSummary } from './shift-book.ts';
import { DOWNLOADS, SHOT } from './shift-files.ts';
import { fileBelow, typeOf } from './site.ts';

/** Read at run time, so that a build copies nothing. */
const ASSETS = join(PACKAGE_ROOT, 'src', 'console', 'assets');
/** Lines that a search in a log shows. */
const MOST_FOUND = 500;

/** Nobody's light but the visitor's own: a cookie that says nothing else. */
const lightOf = (c: RoomContext) => {
  const light = getCookie(c, 'machinery_light');
  return light === 'day' || light === 'night' ? light : null;
};

export async function frameOf(room: Room, c: RoomContext, shifts?: ShiftSummary[]): Promise<Frame> {
  // Whoever may not see the pages yet is shown an empty room to sign in to.
  const { version } = room.pulse;
  const open = room.local || c.var.who !== null;
  const alarms = open ? await lookAtAlarms(room, shifts ?? (await room.book.list())) : [];
  return { who: c.var.who, light: lightOf(c), status: room.factory.status(), alarms, version };
}

export async function notFound(room: Room, c: RoomContext, told = 'There is no such page.'): Promise<Response> {
  return c.html(nothingPage(await frameOf(room, c), told, 'Begin at the line.'), 404);
}

/** Every page a person opens. */
export function pages(room: Room): Hono<RoomEnv> {
  const { config, book, store } = room;
  const { data } = config;
  return new Hono<RoomEnv>()
    .get('/assets/:name', async (c) => {
      const name = c.req.param('name');
      const bytes = await fileBelow(ASSETS, name);
      if (bytes === null) return c.text('not here', 404);
      return c.body(new Uint8Array(bytes), 200, { 'content-type': typeOf(name), 'cache-control': 'no-cache' });
    })
    .get('/', async (c) => {
      const shifts = await book.list();
      const frame = await frameOf(room, c, shifts);
      const hub = config.dataset.hub.repo ?? null;
      const [aside, rows, acts] = await Promise.all([
        room.line.setAside().catch(() => []),
        hub === null ? [] : new Outbox(data).ids(),
        room.acts.last(5),
      ]);
      return c.html(await linePage(room, frame, { shifts, aside, waiting: { hub, rows: rows.length }, acts }));
    })
    .get('/shifts', async (c) => {
      const shifts = await book.list();
      return c.html(await shiftsPage(room, await frameOf(room, c, shifts), shifts, readFilter(c.req.query())));
    })
    .get('/shifts/:id', async (c) => {
      const record = await book.read(c.req.param('id'));
      if (!record) return notFound(room, c, 'There is no such shift.');
      return c.html(await shiftPage(room, await frameOf(room, c), record));
    })
    .get('/shifts/:id/log', async (c) => {
      const { id } = c.req.param();
      if (!ID_PATTERN.test(id)) return notFound(room, c, 'There is no such shift.');
      const text = (c.req.query('text') ?? '').slice(0, 200);
      const lines = await search(logPath(data, id), text);
      return c.html(foundPage(await frameOf(room, c), id, text, lines, lines.length === MOST_FOUND));
    })
    .get('/shifts/:id/:file', async (c) => {
      const { id, file } = c.req.param();
      const known = ID_PATTERN.test(id) && (SHOT.test(file) || DOWNLOADS.some((name) => name === file));
      return known ? send(c, shiftFolder(data, id), file, () => notFound(room, c)) : notFound(room, c);
    })
    .get('/rows', async (c) => {
      const [rows, waiting, held] = await Promise.all([
        store.list(),
        new Outbox(data).ids(),
        new Quarantine(data).list(),
      ]);
      const facts = { rows, waiting, held, zone: config.timezone, hub: config.dataset.hub.repo ?? null };
      return c.html(rowsPage(await frameOf(room, c), facts, readRowFilter(c.req.query())));
    })
    .get('/rows/:id', async (c) => {
      const { id } = c.req.param();
      if (!ID_PATTERN.test(id) || !(await store.has(id))) return notFound(room, c, 'There is no such row.');
      const at = Math.max(1, Number.parseInt(c.req.query('page') ?? '1', 10) || 1);
      return c.html(conversationPage(await frameOf(room, c), id, await readConversation(store.rowPath(id), at), at));
    })
    .get('/rows/:id/critiques', async (c) => {
      const { id } = c.req.param();
      if (!ID_PATTERN.test(id) || !(await store.has(id))) return notFound(room, c, 'There is no such row.');
      return c.html(critiquesPage(await frameOf(room, c), id, await readLooks(id, store.rowPath(id))));
    })
    .get('/rows/:id/images/:name', async (c) => {
      const { id, name } = c.req.param();
      if (!ID_PATTERN.test(id) || !IMAGE.test(`images/${name}`)) return notFound(room, c);
      return send(c, join(store.rowFolder(id), 'images'), name, () => notFound(room, c));
    })
    .get('/rows/:id/:file', async (c) => {
      const { id, file } = c.req.param();
      if (!ID_PATTERN.test(id) || file !== `${id}.jsonl`) return notFound(room, c);
      return send(c, store.rowFolder(id), file, () => notFound(room, c));
    })
    .get('/doctor', async (c) => c.html(doctorPage(await frameOf(room, c), room.examine ? await room.examine() : null)))
    .get('/sign-in', async (c) => {
      const next = safeNext(c.req.query('next'));
      return c.var.who ? c.redirect(next, 303) : c.html(signInPage(await frameOf(room, c), next));
    });
}

/** A file that a shift or a row left: pictures are shown, everything else is only text. */
async function send(
  c: RoomContext,
  folder: string,
  name: string,
  otherwise: () => Promise<Response>,
): Promise<Response> {
  const type = typeOf(name);
  if (type.startsWith('image/')) {
    const bytes = await fileBelow(folder, name);
    return bytes ? c.body(new Uint8Array(bytes), 200, { 'content-type': type }) : otherwise();
  }
  const file = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (!file) return otherwise();
  const stream = Readable.toWeb(file.createReadStream()) as ReadableStream;
  return c.body(stream, 200, { 'content-type': 'text/plain; charset=utf-8' });
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
