import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { refused } from '../refused.ts';
import { type Room, type RoomContext, type RoomEnv, type Who, addressOf } from '../room.ts';
import { COOKIE, openVisitor, sameToken } from './cookie.ts';
import { isShelfKey, keyedPath } from './shelf-key.ts';

/** Addresses that anybody may ask, wherever the console is bound: what a sign-in needs, and what a container's health check asks. */
const OPEN = /^\/(?:assets\/[\w.-]+|sign-in|api\/sign-in|api\/session|healthz|readyz)$/;
const SAFE = new Set(['GET', 'HEAD']);

/** Finds out who asks. A wrong bearer token is refused at once, and counted as a guess. */
export function whoAsks(room: Room): MiddlewareHandler<RoomEnv> {
  return async (c, next) => {
    const bearer = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    const address = addressOf(c);
    if (bearer !== undefined) {
      const wait = room.guesses.waitOf(address);
      if (wait > 0) return tooMany(c, wait);
      if (!sameToken(bearer.trim(), room.token)) {
        room.guesses.wrong(address);
        return refused(c, 401, 'wrong-token');
      }
      c.set('who', named('bearer token', address));
      return next();
    }
    const visitor = openVisitor(room.token, getCookie(c, COOKIE));
    c.set('who', visitor ? named(visitor.name || 'somebody', address) : null);
    return next();
  };
}

const named = (name: string, address: string): Who => ({ name, by: `${name} (${address})` });

export function tooMany(c: Context, seconds: number): Response {
  c.header('retry-after', String(seconds));
  return refused(c, 429, 'too-many', { mend: `Wait ${seconds} s.` });
}

/** Every act needs the token; off loopback every page does. */
export function needToken(room: Room): MiddlewareHandler<RoomEnv> {
  return async (c: RoomContext, next) => {
    if (c.var.who !== null || OPEN.test(c.req.path)) return next();
    if (room.local && SAFE.has(c.req.method)) return next();
    const keyed = SAFE.has(c.req.method) ? keyedPath(c.req.path) : null;
    if (keyed && isShelfKey(room.token, keyed.key)) return next();
    const page = SAFE.has(c.req.method) && !c.req.path.startsWith('/api/') && c.req.path !== '/metrics';
    if (page) return c.redirect(`/sign-in?${new URLSearchParams({ next: nextOf(c) })}`, 303);
    return refused(c, 401, 'no-token');
  };
}

const nextOf = (c: Context) => {
  const { pathname, search } = new URL(c.req.url);
  return `${pathname}${search}`;
};

/** A place to go to after sign-in: a path of ours, whatever was asked. */
export function safeNext(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])[^\\\s]*$/.test(next) ? next : '/';
}
