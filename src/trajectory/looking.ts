import type { SessionActivity, SessionMessage } from '../session/types.ts';
import type { Looked } from './machinery.ts';

const SHOT = /([a-z0-9]+(?:-[a-z0-9]+)*)-(?:desktop|phone|manual)\.png$/;
const MACHINE = /machines\/([a-z0-9]+(?:-[a-z0-9]+)*)/g;
const FIELD = {
  path: /"path"\s*:\s*("(?:[^"\\]|\\.)*")/,
  command: /"command"\s*:\s*("(?:[^"\\]|\\.)*")/,
};
/** Ways a shell command changes a file. Reading ones (cat, grep, the gates) name machines too and must not count. */
const WRITES =
  /(?:^|[\s;&|(])(?:sed\s+(?:\S+\s+)*-i|perl\s+(?:\S+\s+)*-\w*i|tee|cp|mv|patch|git\s+apply|python3?|node)\b|>/;

/**
 * A string of a call's arguments. They are not parsed: a write's hold the whole file. A quote inside a string is escaped,
 * so the bare `"key"` is never found in one.
 */
function stringOf(args: string | undefined, key: 'path' | 'command'): string {
  const literal = FIELD[key].exec(args ?? '')?.[1];
  try {
    return literal === undefined ? '' : (JSON.parse(literal) as string);
  } catch {
    return '';
  }
}

/** The machines whose files a call changes. */
function changed(call: SessionActivity): string[] {
  const text = call.name === 'write' ? stringOf(call.arguments, 'path') : '';
  const command = call.name === 'shell' ? stringOf(call.arguments, 'command') : '';
  const where = text || (WRITES.test(command) ? command : '');
  return [...where.matchAll(MACHINE)].map((match) => match[1] as string);
}

/**
 * A number for a text: two of FNV's 32-bit sums side by side, of which 53 bits are kept. It only tells a model's calls
 * apart, tens of thousands of them.
 */
function numberOf(text: string): number {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return (a >>> 0) * 0x200000 + (b >>> 11);
}

/** A call that was answered: what may be a look, or a change of what is looked at. */
interface Act {
  /** Tells one call from another. */
  key: number;
  /** Slugs of the machines it changed. */
  changed: string[];
  viewed: boolean;
  /** Slug of the machine whose screenshot was viewed. */
  shown?: string | undefined;
}

/** Finds the acts of a conversation, message by message. */
export class Acts {
  readonly #open = new Map<string, SessionActivity>();

  /** Tells that what follows is another conversation. */
  restart(): void {
    this.#open.clear();
  }

  /** The act that a message completes, if any. */
  of({ activity }: SessionMessage): Act | null {
    if (activity?.kind === 'request') this.#open.set(activity.id ?? '', activity);
    if (activity?.kind !== 'response') return null;
    const call = this.#open.get(activity.id ?? '');
    this.#open.delete(activity.id ?? '');
    if (!call || !['view', 'write', 'shell'].includes(call.name ?? '')) return null;
    // A number, because it outlives the conversation and a write's arguments hold a whole file; their start and length
    // tell calls apart.
    const args = call.arguments ?? '';
    const key = numberOf(`${call.id} ${call.name} ${args.length} ${args.slice(0, 100)}`);
    if (activity.failure !== undefined) return { key, changed: [], viewed: false };
    const viewed = call.name === 'view';
    const shown = viewed ? SHOT.exec(stringOf(call.arguments, 'path'))?.[1] : undefined;
    return { key, changed: changed(call), viewed, shown };
  }
}

/** How often a call came in the conversation that last held it, and the most that any held. */
interface Times {
  conversation: number;
  here: number;
  counted: number;
}

/**
 * Counts, over a whole chain, how often the model viewed an image, and how often it viewed a machine whose design it had
 * changed since it first saw it: the look, the change and the second look that the order asks for.
 * A resumed session and a compaction record calls again, so a call counts once: by its id, name and arguments, and by how
 * many of the same the conversation holds.
 */
export class Looking {
  readonly looked: Looked = { views: 0, afterChange: 0 };
  /** By the call's key. */
  readonly #times = new Map<number, Times>();
  #conversation = 0;
  readonly #seen = new Set<string>();
  readonly #changed = new Set<string>();

  /** Tells that what follows is another conversation: a new session of the chain, or the one after a reset. */
  restart(): void {
    this.#conversation += 1;
  }

  add({ key, changed: slugs, viewed, shown }: Act): void {
    const times = this.#times.get(key) ?? { conversation: 0, here: 0, counted: 0 };
    if (times.counted === 0) this.#times.set(key, times);
    if (times.conversation !== this.#conversation) [times.conversation, times.here] = [this.#conversation, 0];
    times.here += 1;
    if (times.here <= times.counted) return;
    times.counted = times.here;
    for (const slug of slugs) if (this.#seen.has(slug)) this.#changed.add(slug);
    if (viewed) this.looked.views += 1;
    if (shown === undefined) return;
    this.#seen.add(shown);
    if (this.#changed.has(shown)) this.looked.afterChange += 1;
  }
}
