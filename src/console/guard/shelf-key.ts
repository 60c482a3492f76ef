import { createHmac } from 'node:crypto';
import { sameToken } from './cookie.ts';

/**
 * The key to the shelf. A page without an origin sends no cookie, not even for its own style sheet; so where pages need the
 * token, whoever has signed in is sent to an address of the shelf that holds this key, and every file below it is asked for
 * with it. It opens the shelf and nothing else, because a machine can read the address it is at.
 */

const DAY_MS = 86_400_000;

function keyOf(token: string, day: number): string {
  return createHmac('sha256', `shelf ${token}`).update(String(day)).digest('base64url').slice(0, 32);
}

/** Today's key. */
export function shelfKey(token: string, now = Date.now()): string {
  return keyOf(token, Math.floor(now / DAY_MS));
}

/** Whether a key is of today, or of yesterday for a page that was left open at midnight. */
export function isShelfKey(token: string, key: string, now = Date.now()): boolean {
  const day = Math.floor(now / DAY_MS);
  return [day, day - 1].some((each) => sameToken(key, keyOf(token, each)));
}

/** The key and what follows it in a path below `/shelf/`; null for a path without one. A file's name never begins with `~`. */
export function keyedPath(path: string): { key: string; rest: string } | null {
  const [, key, rest = ''] = /^\/shelf\/~([\w-]*)(?:\/(.*))?$/s.exec(path) ?? [];
  return key === undefined ? null : { key, rest };
}
