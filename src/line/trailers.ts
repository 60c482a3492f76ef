/** The messages of the line's commits, and the trailers read back from them. */

export interface SnapshotNote {
  shift: string;
  session?: string | null;
  /** How many shifts with an agent went on with this branch after its first. */
  continued?: number;
}

/** What a landed commit says of the work: the entry's name and tagline are in `subject`, the agent's summary is `body`. */
export interface LandingMessage {
  subject: string;
  body: string;
  shift: string;
  session: string | null;
}

/** One line without control characters and with single spaces, at most `limit` characters. */
function folded(text: string, limit: number): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim();
  const letters = [...line];
  return letters.length <= limit
    ? line
    : `${letters
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`;
}

/** The subject of a landed commit, `shift: <Name> - <tagline>`; both may be hostile. */
export function landingSubject(name: string, tagline: string): string {
  return `shift: ${folded(name, 60)} - ${folded(tagline, 100)}`;
}

/** Every line by four spaces: a trailer starts at the line's first letter, so nothing in here can be one. */
function indented(text: string, limit: number): string {
  return text
    .slice(0, limit)
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => line.replace(/[\p{Cc}\p{Cs}]/gu, ' ').trimEnd())
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '');
}

function trailerLines(trailers: [string, string | null][]): string {
  return trailers
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}: ${folded(value ?? '', 200)}`)
    .join('\n');
}

/** The whole message of a landed commit: subject, the agent's summary indented, `Shift:` and `Session:`. */
export function landingMessage(message: LandingMessage): string {
  const trailers = trailerLines([
    ['Shift', message.shift],
    ['Session', message.session],
  ]);
  return [folded(message.subject, 200) || `shift: ${message.shift}`, indented(message.body, 8000), trailers]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** The message of a snapshot; `leftOut` are paths that the snapshot could not or must not hold, with the reason. */
export function snapshotMessage(note: SnapshotNote, factory: string, leftOut: string[]): string {
  const shelfFirst = [...leftOut].sort((a, b) => Number(b.startsWith('site/')) - Number(a.startsWith('site/')));
  const body = shelfFirst.slice(0, 100).map((each) => `    left out: ${folded(each, 500)}`);
  const trailers = trailerLines([
    ['Factory', factory],
    ['Shift', note.shift],
    ['Session', note.session ?? null],
    ['Continued', String(note.continued ?? 0)],
  ]);
  return [`snapshot of shift ${folded(note.shift, 40)}`, body.join('\n'), trailers]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

/** The paths a snapshot's message says were left out, each `<path> (<why>)`. */
export function leftOutOf(message: string): string[] {
  if (!readTrailers(message).has('Factory')) return [];
  return [...message.matchAll(/^ {4}left out: (.*)$/gm)].map((match) => match[1] ?? '');
}

/**
 * The trailers of a commit message: only from its last paragraph, only when it is not the only one, and only when every
 * line of it is `Key: value` from the first letter on. The last of two with one key counts.
 */
export function readTrailers(message: string): Map<string, string> {
  const paragraphs = message.trimEnd().split(/\n[ \t]*\n/);
  const last = paragraphs.length < 2 ? '' : (paragraphs.at(-1) ?? '');
  const trailers = new Map<string, string>();
  for (const line of last.replace(/^\n+/, '').split('\n')) {
    const match = /^([A-Za-z][A-Za-z-]*): (.*)$/.exec(line);
    if (!match) return new Map();
    trailers.set(match[1] ?? '', (match[2] ?? '').trim());
  }
  return trailers;
}
