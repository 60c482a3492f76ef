import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { getCookie } from 'hono/cookie';
import { lookAtAlarms } from './causes.ts';
import { nothingPage } from './pages/plain.ts';
import type { Frame } from './parts/layout.ts';
import type { Room, RoomContext } from './room.ts';
import type { ShiftSummary } from './shift-book.ts';
import { fileBelow, typeOf } from './site.ts';

/** What all pages answer with: the frame they are drawn in, a page for what is not there, a file. */

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

/** A file that a shift or a row left: pictures are shown, everything else is only text. */
export async function sendFile(
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
