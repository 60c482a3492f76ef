import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { Outbox } from '../../dataset/outbox.ts';
import { Quarantine } from '../../dataset/quarantine.ts';
import type { Change } from '../../line/change.ts';
import { shown } from '../../line/tree.ts';
import { ID_PATTERN } from '../../support/ids.ts';
import { lookAtAlarms } from '../causes.ts';
import { type Live, follow, parsePlace, placeId } from '../live.ts';
import { chosenRows, readRowFilter, ROWS_PER_PAGE } from '../pages/rows.ts';
import { PER_PAGE, filterShifts, readFilter } from '../pages/shifts.ts';
import { levelOf } from '../parts/printer.ts';
import { refused } from '../refused.ts';
import type { Room, RoomEnv } from '../room.ts';
import { readReports, screenshots } from '../shift-files.ts';

/** What can be asked, as JSON; docs/api.md tells each. */
export function reads(room: Room): Hono<RoomEnv> {
  const { book, store, config } = room;
  return new Hono<RoomEnv>()
    .get('/status', (c) => c.json(room.factory.status()))
    .get('/live', (c) => {
      const asked = c.req.query('shift');
      if (asked !== undefined && !ID_PATTERN.test(asked)) return refused(c, 404, 'not-found');
      const from = parsePlace(c.req.header('last-event-id')) ?? parsePlace(c.req.query('from'));
      // A place in another shift's log is no place in this one's.
      const place = asked === undefined ? from : from?.shift === asked ? from : { shift: asked, byte: 0 };
      c.header('x-accel-buffering', 'no');
      return streamSSE(c, async (stream) => {
        const gone = new AbortController();
        stream.onAbort(() => gone.abort());
        const signal = AbortSignal.any([gone.signal, room.closing]);
        for await (const live of follow(room, {
          from: place,
          only: asked !== undefined,
          log: c.req.query('log') !== 'no',
          signal,
        })) {
          for (const message of messages(live)) await stream.write(message);
        }
      });
    })
    .get('/shifts', async (c) => {
      const filter = readFilter(c.req.query());
      const found = filterShifts(await book.list(), filter);
      return c.json({ total: found.length, shifts: found.slice((filter.page - 1) * PER_PAGE, filter.page * PER_PAGE) });
    })
    .get('/shifts/:id', async (c) => {
      const record = await book.read(c.req.param('id'));
      return record ? c.json(record) : refused(c, 404, 'not-found', { message: 'there is no such shift' });
    })
    .get('/shifts/:id/findings', async (c) => {
      const id = c.req.param('id');
      if (!(await book.read(id))) return refused(c, 404, 'not-found', { message: 'there is no such shift' });
      return c.json({ reports: await readReports(config.data, id), screenshots: await screenshots(config.data, id) });
    })
    .get('/shifts/:id/change', async (c) => {
      const record = await book.read(c.req.param('id'));
      if (!record) return refused(c, 404, 'not-found', { message: 'there is no such shift' });
      return c.json({ change: shownChange(await room.line.change(record)) });
    })
    .get('/rows', async (c) => {
      const filter = readRowFilter(c.req.query());
      const found = chosenRows(await store.list(), filter);
      return c.json({
        total: found.length,
        rows: found.slice((filter.page - 1) * ROWS_PER_PAGE, filter.page * ROWS_PER_PAGE),
      });
    })
    .get('/alarms', async (c) => c.json({ alarms: await lookAtAlarms(room, await book.list()) }))
    .get('/outbox', async (c) =>
      c.json({
        hub: config.dataset.hub.repo ?? null,
        waiting: await new Outbox(config.data).ids(),
        held: await new Quarantine(config.data).list(),
      }),
    )
    .get('/set-aside', async (c) => c.json({ branches: await room.line.setAside() }))
    .get('/doctor', async (c) => c.json({ examined: room.examine ? await room.examine() : null }))
    .get('/acts', async (c) => c.json({ acts: await room.acts.last(200) }));
}

/** A change as JSON can tell it: names as text. */
function shownChange(change: Change | null): Change | null {
  return change && { ...change, files: change.files.map((file) => ({ ...file, path: shown(file.path) })) };
}

/** A follower's news as server-sent events. Only log lines have an id: a follower that comes back goes on after its last line. */
function messages(live: Live): string[] {
  if (live.type === 'still') return [': still\n\n'];
  if (live.type !== 'log') return [`event: ${live.type}\ndata: ${JSON.stringify(live)}\n\n`];
  const events = live.lines.map(({ line, end }) => {
    const data = JSON.stringify({ ...line, shift: live.shift, level: levelOf(line) });
    return `event: log\nid: ${placeId({ shift: live.shift, byte: end })}\ndata: ${data}\n\n`;
  });
  return [events.join('')];
}
