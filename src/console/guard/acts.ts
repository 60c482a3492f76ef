import type { Context, MiddlewareHandler } from 'hono';
import type { RoomEnv } from '../room.ts';
import { refused } from '../refused.ts';

const SAFE = new Set(['GET', 'HEAD']);

/** Whether a request's Origin is the page it would come from if it were ours. */
function ownOrigin(c: Context, publicUrl: string | undefined): boolean {
  const origin = c.req.header('origin');
  if (origin === undefined) return true;
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return true;
  try {
    const { host, protocol } = new URL(origin);
    return /^https?:$/.test(protocol) && host === c.req.header('host');
  } catch {
    return false; // `null`, which a sandboxed page sends, among others
  }
}

/**
 * Refuses what another site, or a machine on the shelf, sends here. A browser says where a request comes from (Origin,
 * Sec-Fetch-Site) and a page cannot change that. A cookie without either is refused for an act; a bearer token alone is not,
 * because no browser adds one by itself.
 */
export function fromHere(publicUrl: string | undefined): MiddlewareHandler<RoomEnv> {
  return async (c, next) => {
    const site = c.req.header('sec-fetch-site');
    const act = !SAFE.has(c.req.method);
    if (site !== undefined && site !== 'same-origin' && (act || site !== 'none'))
      return refused(c, 403, 'another-site');
    if (c.req.header('origin') !== undefined && !ownOrigin(c, publicUrl)) return refused(c, 403, 'another-site');
    if (!act) return next();
    const told = site !== undefined || c.req.header('origin') !== undefined;
    if (!told && c.req.header('authorization') === undefined) return refused(c, 403, 'another-site');
    const type = (c.req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json') return refused(c, 415, 'json-only');
    return next();
  };
}
