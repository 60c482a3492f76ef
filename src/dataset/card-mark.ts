import { sha256 } from '../session/blobs.ts';

/** A card on the hub is written anew at most so often, in milliseconds: a day. Every row changes its counts. */
const FRESH = 86_400_000;

const MARK = /\n<!-- machinery card, written (\S+), sha256 ([0-9a-f]{64}) -->\n$/;

/** A card with a last line, unseen by readers, that says when it was written and what its text hashes to. */
export function marked(text: string, now: Date = new Date()): string {
  return `${text}\n<!-- machinery card, written ${now.toISOString()}, sha256 ${sha256(Buffer.from(text))} -->\n`;
}

/**
 * Whether the card on the hub is to be written anew: `edited` when it is not as the factory left it, `same` when it says
 * what it would say now, `recent` when it was written within a day, else `due`.
 */
export function cardStanding(
  there: string,
  text: string,
  now: Date = new Date(),
): 'edited' | 'same' | 'recent' | 'due' {
  // The hub, or whoever fetched it, may have changed the line ends.
  const plain = there.replaceAll('\r\n', '\n');
  const [mark, at = '', hash] = MARK.exec(plain) ?? [''];
  const body = plain.slice(0, plain.length - mark.length);
  if (hash === undefined || sha256(Buffer.from(body)) !== hash) return 'edited';
  if (body === text) return 'same';
  return now.getTime() - Date.parse(at) < FRESH ? 'recent' : 'due';
}
