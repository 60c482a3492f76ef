import { Hono } from 'hono';
import { isShelfKey, keyedPath, shelfKey } from './guard/shelf-key.ts';
import type { Room, RoomContext, RoomEnv } from './room.ts';
import { plainPath, typeOf } from './site.ts';

/**
 * The site itself, live. What is on the shelf was written by a model: it is served without an origin, so that it has none of
 * our cookies, cannot read an answer of ours and is refused by the API; sandboxed, it opens nothing and leaves nowhere.
 */
export function shelf(room: Room, notFound: (c: RoomContext, told?: string) => Promise<Response>): Hono<RoomEnv> {
  return new Hono<RoomEnv>().get('/*', async (c) => {
    if (c.req.path === '/shelf') return c.redirect('/shelf/', 301);
    const keyed = keyedPath(c.req.path);
    const { search } = new URL(c.req.url);
    const rest = keyed?.rest ?? c.req.path.replace(/^\/shelf\//, '');
    if (keyed && (room.local || !isShelfKey(room.token, keyed.key))) return c.redirect(`/shelf/${rest}${search}`, 303);
    // A program shows its token with every request; a browser's page could not.
    const showsToken = c.req.header('authorization') !== undefined;
    if (!keyed && !room.local && !showsToken)
      return c.redirect(`/shelf/~${shelfKey(room.token)}/${rest}${search}`, 303);
    const below = keyed ? `/shelf/~${keyed.key}/` : '/shelf/';

    const asked = decoded(rest);
    const plain = asked === null ? null : plainPath(asked);
    if (asked === null || plain === null) return notFound(c);
    const isFolder = asked === '' || asked.endsWith('/');
    const path = isFolder ? [plain, 'index.html'].filter(Boolean).join('/') : plain;
    const bytes = await room.line.siteFile(path);
    if (bytes === null) {
      const folder = !isFolder && (await room.line.siteFile(`${plain}/index.html`)) !== null;
      if (folder) return c.redirect(`${below}${plain}/`, 301);
      return asked === ''
        ? notFound(c, 'The shelf is not here yet: the next shift fetches it from the origin.')
        : notFound(c);
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
