import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** Why a request was refused: `code` for programs, the rest for people. */
const REASONS = {
  'foreign-host': [
    'the console does not answer to this host name',
    'Add it to console.allowed_hosts, or set console.public_url.',
  ],
  'another-site': [
    'the request came from another page than the console’s own',
    'Use the console’s own pages, or a bearer token.',
  ],
  'json-only': ['an act must be sent as application/json', 'Send `Content-Type: application/json` and a JSON object.'],
  'bad-json': ['the body is not a JSON object of the expected shape', 'See docs/api.md.'],
  'no-token': [
    'this needs the console token',
    'Sign in, or send `Authorization: Bearer <token>`; `machinery console-token` shows it.',
  ],
  'wrong-token': ['that is not the console token', '`machinery console-token` shows it.'],
  'too-many': ['too many wrong tokens', 'Wait as long as Retry-After says.'],
  'not-found': ['there is nothing here', 'The addresses are in docs/api.md.'],
  conflict: ['that cannot be done now', 'Look at the line.'],
  trouble: ['the console could not do that', 'The factory’s log says more.'],
} as const;

export type Refusal = keyof typeof REASONS;

/** A refusal as JSON: `{error: {code, message, mend}}`. */
export function refused(
  c: Context,
  status: ContentfulStatusCode,
  code: Refusal,
  told: { message?: string; mend?: string; code?: string } = {},
): Response {
  const [message, mend] = REASONS[code];
  return c.json({ error: { code, message, mend, ...told } }, status);
}
