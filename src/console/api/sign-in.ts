import { Hono } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import { COOKIE, COOKIE_MS, sameToken, sealVisitor } from '../guard/cookie.ts';
import { tooMany } from '../guard/who.ts';
import { refused } from '../refused.ts';
import { type Room, type RoomContext, type RoomEnv, addressOf } from '../room.ts';

const body = z.object({ token: z.string().max(1000), name: z.string().max(200).default('') });

/** Letters, digits and a little more: a name goes into a log and onto a page. */
const plainName = (name: string) =>
  name
    .replace(/[^\p{L}\p{N} .,'@_-]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 40);

/** Whether the visitor reached us over TLS, so that the cookie may say so. */
function overTls(c: RoomContext, publicUrl: string | undefined): boolean {
  if (c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https') return true;
  return publicUrl?.startsWith('https:') === true && new URL(publicUrl).host === c.req.header('host');
}

export function signIn(room: Room): Hono<RoomEnv> {
  return new Hono<RoomEnv>()
    .get('/session', (c) => c.json({ signedIn: c.var.who !== null, name: c.var.who?.name ?? null }))
    .post('/sign-in', async (c) => {
      const address = addressOf(c);
      const wait = room.guesses.waitOf(address);
      if (wait > 0) return tooMany(c, wait);
      const given = body.safeParse(await c.req.json().catch(() => null));
      if (!given.success) return refused(c, 400, 'bad-json');
      if (!sameToken(given.data.token.trim(), room.token)) {
        room.guesses.wrong(address);
        await room.acts.add(address, 'sign-in', 'wrong token');
        return refused(c, 401, 'wrong-token');
      }
      const name = plainName(given.data.name);
      setCookie(c, COOKIE, sealVisitor(room.token, { name, until: Date.now() + COOKIE_MS }), {
        path: '/',
        httpOnly: true,
        sameSite: 'Strict',
        secure: overTls(c, room.config.console.public_url),
        maxAge: COOKIE_MS / 1000,
      });
      return c.json({ signedIn: true, name });
    })
    .post('/sign-out', (c) => {
      deleteCookie(c, COOKIE, { path: '/' });
      return c.json({ signedIn: false });
    });
}
