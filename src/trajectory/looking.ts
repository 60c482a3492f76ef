import { createHash } from 'node:crypto';
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
 * Counts, over a whole chain, how often the model viewed an image, and how often it viewed a machine whose design it had
 * changed since it first saw it: the look, the change and the second look that the order asks for.
 * A resumed session and a compaction record calls again, so a call counts once: by its id, name and arguments, and by how
 * many of the same the conversation holds.
 */
export class Looking {
  readonly looked: Looked = { views: 0, afterChange: 0 };
  readonly #counted = new Set<string>();
  #here = new Map<string, number>();
  readonly #open = new Map<string, SessionActivity>();
  readonly #seen = new Set<string>();
  readonly #changed = new Set<string>();

  /** Tells that what follows is another conversation: a new session of the chain, or the one after a reset. */
  restart(): void {
    this.#here = new Map();
    this.#open.clear();
  }

  add({ activity }: SessionMessage): void {
    if (activity?.kind === 'request') this.#open.set(activity.id ?? '', activity);
    if (activity?.kind !== 'response') return;
    const call = this.#open.get(activity.id ?? '');
    this.#open.delete(activity.id ?? '');
    if (!call || !['view', 'write', 'shell'].includes(call.name ?? '')) return;
    // A hash, because the set outlives the conversation and a write's arguments hold a whole file; their start and
    // length tell calls apart.
    const args = call.arguments ?? '';
    const told = `${call.id} ${call.name} ${args.length} ${args.slice(0, 1000)}`;
    const key = createHash('sha1').update(told).digest('base64');
    const nth = (this.#here.get(key) ?? 0) + 1;
    this.#here.set(key, nth);
    if (this.#counted.has(`${nth} ${key}`)) return;
    this.#counted.add(`${nth} ${key}`);
    if (activity.failure === undefined) this.#count(call);
  }

  #count(call: SessionActivity): void {
    for (const slug of changed(call)) if (this.#seen.has(slug)) this.#changed.add(slug);
    if (call.name !== 'view') return;
    this.looked.views += 1;
    const slug = SHOT.exec(stringOf(call.arguments, 'path'))?.[1];
    if (slug === undefined) return;
    this.#seen.add(slug);
    if (this.#changed.has(slug)) this.looked.afterChange += 1;
  }
}
