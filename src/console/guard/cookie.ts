import { createHmac, timingSafeEqual } from 'node:crypto';

/** Who a signed-in visitor is. */
export interface Visitor {
  /** The name given at sign-in, for the record of acts. */
  name: string;
  /** Milliseconds since 1970 at which the cookie ends. */
  until: number;
}

export const COOKIE = 'machinery_room';
/** A cookie lasts through a week of night shifts. */
export const COOKIE_MS = 7 * 24 * 3600 * 1000;

const seal = (token: string, text: string) => createHmac('sha256', `control room ${token}`).update(text).digest();

/** A cookie's value: who, until when, and a seal that only the holder of the token can make. A new token voids them all. */
export function sealVisitor(token: string, visitor: Visitor): string {
  const text = Buffer.from(JSON.stringify(visitor)).toString('base64url');
  return `${text}.${seal(token, text).toString('base64url')}`;
}

/** The visitor of a cookie, or null when its seal is not ours or it has ended. */
export function openVisitor(token: string, value: string | undefined, now = Date.now()): Visitor | null {
  const [text = '', mark = ''] = (value ?? '').split('.');
  if (text === '' || !same(Buffer.from(mark, 'base64url'), seal(token, text))) return null;
  try {
    const { name, until } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Visitor;
    return typeof name === 'string' && typeof until === 'number' && until > now ? { name, until } : null;
  } catch {
    return null;
  }
}

const same = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b);

/** Whether two tokens are the same, in a time that tells nothing about where they differ. */
export function sameToken(given: string, token: string): boolean {
  return same(seal('compare', given), seal('compare', token));
}
