import { createHash } from 'node:crypto';
import { lstat, readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ChatMessage } from '../trajectory/types.ts';
import { hasHalfPair } from '../support/json.ts';
import { readRow } from './row-reader.ts';
import { frameSchema, messageSchema } from './schema.ts';

/** What is wrong with a row. */
export interface Fault {
  row: string;
  /** `schema`, `answers`, `images`, `chain`, `twice`, `unreadable`. */
  kind: string;
  told: string;
}

/** A conversation whose tool results are matched with their calls. */
class Calls {
  readonly #open = new Map<string, number>();
  readonly #fault: (kind: string, told: string) => void;

  constructor(fault: (kind: string, told: string) => void) {
    this.#fault = fault;
  }

  add(message: ChatMessage, place: string): void {
    for (const { id } of message.tool_calls ?? []) this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
    if (message.role !== 'tool') return;
    const id = message.tool_call_id ?? '';
    const left = this.#open.get(id) ?? 0;
    if (left === 0) this.#fault('answers', `${place} answers no call (${id || 'no id'})`);
    else this.#open.set(id, left - 1);
  }
}

/** Checks one row's folder. @returns its id, its chain, and every fault, at most 100 of them. */
async function validateRow(folder: string): Promise<{ id: string; chain: string[]; faults: Fault[] }> {
  const row = basename(folder);
  const faults: Fault[] = [];
  const fault = (kind: string, told: string): void => {
    if (faults.length < 100) faults.push({ row, kind, told });
  };
  const frame: Record<string, unknown> = {};
  const shown = new Set<string>();
  let calls = new Calls(fault);
  let [at, snapshot, messages] = [0, -1, false];
  try {
    for await (const part of readRow(join(folder, `${row}.jsonl`))) {
      if (part.key === 'messages') messages = true;
      if (hasHalfPair(part.message ?? part.value)) fault('schema', `${part.key} holds half of a surrogate pair`);
      if (part.message === undefined) {
        if (part.key === 'messages') continue;
        if (part.key in frame) fault('schema', `the key \`${part.key}\` comes twice`);
        frame[part.key] = part.value;
        continue;
      }
      const number = 'snapshot' in part ? part.snapshot : -1;
      if (number !== snapshot) [calls, at, snapshot] = [new Calls(fault), 0, number];
      const place = number === -1 ? `messages[${at}]` : `snapshots[${number}][${at}]`;
      at += 1;
      const parsed = messageSchema.safeParse(part.message);
      if (!parsed.success) {
        const issue = parsed.error.issues[0];
        fault('schema', `${place}.${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'wrong shape'}`);
        continue;
      }
      const message = part.message as ChatMessage;
      calls.add(message, place);
      if (Array.isArray(message.content)) {
        for (const piece of message.content) if (piece.type === 'image') shown.add(piece.image);
      }
    }
  } catch (error) {
    fault('unreadable', (error as Error).message);
    return { id: row, chain: [], faults };
  }
  if (!messages) fault('schema', '`messages` is missing');
  const parsed = frameSchema.safeParse(frame);
  for (const { path, message } of parsed.error?.issues ?? [])
    fault('schema', `${path.map(String).join('.')}: ${message}`);
  if (frame.complete !== (frame.outcome !== undefined))
    fault('schema', '`complete` and `outcome` contradict each other');
  await images(folder, frame, shown, fault);
  const chain = Array.isArray(frame.chain) ? frame.chain.map(String) : [];
  if (frame.id !== row) fault('chain', `its id is ${String(frame.id)}, its folder's name is not`);
  if (chain.at(-1) !== frame.id) fault('chain', 'its chain does not end in its own id');
  if (new Set(chain).size !== chain.length) fault('chain', 'its chain names a session twice');
  return { id: String(frame.id), chain, faults };
}

/** Every image that is listed is shown and there, hashes to its name, and nothing else is there. */
async function images(
  folder: string,
  frame: Record<string, unknown>,
  shown: Set<string>,
  fault: (kind: string, told: string) => void,
): Promise<void> {
  const listed = Array.isArray(frame.images) ? frame.images.map(String) : [];
  for (const path of shown) if (!listed.includes(path)) fault('images', `${path} is shown and not listed`);
  for (const path of listed) if (!shown.has(path)) fault('images', `${path} is listed and never shown`);
  const names = await readdir(join(folder, 'images')).catch(() => [] as string[]);
  for (const name of names)
    if (!listed.includes(`images/${name}`)) fault('images', `images/${name} is there and not listed`);
  for (const path of listed.filter((listedPath) => /^images\/[0-9a-f]{64}\.\w+$/.test(listedPath))) {
    const file = join(folder, path);
    if (!(await lstat(file).catch(() => null))?.isFile()) {
      fault('images', `${path} is not there`);
      continue;
    }
    const hex = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    if (!path.includes(hex)) fault('images', `${path} does not hash to its name`);
  }
}

/** Checks every row below a folder of rows, and that no two have one id. */
export async function validateRows(trajectories: string): Promise<{ rows: number; faults: Fault[] }> {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  const chains = new Map<string, string[]>();
  const entries = await readdir(trajectories, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  for (const name of names.sort()) {
    const { id, chain, faults: found } = await validateRow(join(trajectories, name));
    faults.push(...found);
    if (seen.has(id)) faults.push({ row: name, kind: 'twice', told: `another row has the id ${id}` });
    seen.add(id);
    chains.set(id, chain);
  }
  for (const [id, chain] of chains) {
    for (const [at, link] of chain.slice(0, -1).entries()) {
      // A log that is gone shortens a chain at its old end; what both rows tell must agree all the same.
      const [own, older] = [chain.slice(0, at + 1), chains.get(link)];
      if (older?.includes(id)) faults.push({ row: id, kind: 'chain', told: `it and ${link} continue each other` });
      const shared = Math.min(own.length, older?.length ?? 0);
      if (older && own.slice(-shared).join() !== older.slice(-shared).join()) {
        faults.push({ row: id, kind: 'chain', told: `its chain and that of ${link} tell different stories` });
      }
    }
  }
  return { rows: names.length, faults };
}
