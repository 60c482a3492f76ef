import { join } from 'node:path';
import { Hono } from 'hono';
import { Outbox } from '../dataset/outbox.ts';
import { Quarantine } from '../dataset/quarantine.ts';
import { ID_PATTERN } from '../support/ids.ts';
import { PACKAGE_ROOT } from '../support/self.ts';
import { readConversation, readLooks } from './conversation.ts';
import { frameOf, notFound, sendFile } from './frame.ts';
import { safeNext } from './guard/who.ts';
import { IMAGE, conversationPage, critiquesPage } from './pages/conversation.ts';
import { linePage } from './pages/line.ts';
import { doctorPage, signInPage } from './pages/plain.ts';
import { readRowFilter, rowsPage } from './pages/rows.ts';
import type { Room, RoomEnv } from './room.ts';
import { shiftPages } from './shift-pages.ts';
import { fileBelow, typeOf } from './site.ts';

/** Read at run time, so that a build copies nothing. */
const ASSETS = join(PACKAGE_ROOT, 'src', 'console', 'assets');

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
    .route('/shifts', shiftPages(room))
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
      return sendFile(c, join(store.rowFolder(id), 'images'), name, () => notFound(room, c));
    })
    .get('/rows/:id/:file', async (c) => {
      const { id, file } = c.req.param();
      if (!ID_PATTERN.test(id) || file !== `${id}.jsonl`) return notFound(room, c);
      return sendFile(c, store.rowFolder(id), file, () => notFound(room, c));
    })
    .get('/doctor', async (c) => c.html(doctorPage(await frameOf(room, c), room.examine ? await room.examine() : null)))
    .get('/sign-in', async (c) => {
      const next = safeNext(c.req.query('next'));
      return c.var.who ? c.redirect(next, 303) : c.html(signInPage(await frameOf(room, c), next));
    });
}
