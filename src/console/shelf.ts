import { Hono } from 'hono';
import type { Room, RoomContext, RoomEnv } from './room.ts';
import { plainPath, typeOf } from './site.ts';

/**
 * The site itself, live. What is on the shelf was written by a model: it is served without an origin, so that it has none of
 * our cookies, cannot read an answer of ours and is refused by the API; sandboxed, it opens nothing and leaves nowhere.
 */
export function shelf(room: Room, notFound: (c: RoomContext) => Promise<Response>): Hono<RoomEnv> {
  return new Hono<RoomEnv>().get('/*', async (c) => {
    if (c.req.path === '/shelf') return c.redirect('/shelf/', 301);
    const asked = decoded(c.req.path.replace(/^\/shelf\//, ''));
    const plain = asked === null ? null : plainPath(asked);
    if (asked === null || plain === null) return notFound(c);
    const isFolder = asked === '' || asked.endsWith('/');
    const path = isFolder ? [plain, 'index.html'].filter(Boolean).join('/') : plain;
    const bytes = await room.line.siteFile(path);
    if (bytes === null) {
      const folder = !isFolder && (await room.line.siteFile(`${plain}/index.html`)) !== null;
      return folder ? c.redirect(`/shelf/${plain}/`, 301) : notFound(c);
    }
    return c.body(new Uint8Array(bytes), 200, {
      'content-type': typeOf(path),
      'content-security-policy': 'sandbox allow-scripts',
      // A page without an origin is another site to us, also when it asks for its own files.
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'no-cache',
    });
  });
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
