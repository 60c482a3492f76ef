import { type Critique, critiquesOf } from '../dataset/critiques.ts';
import { readRow } from '../dataset/row-reader.ts';
import type { ChatMessage } from '../trajectory/types.ts';

export const TURNS_A_PAGE = 60;

/** A row as a person reads it: what stands beside its messages, and one page of them. */
export interface Conversation {
  /** The row's keys, its messages and superseded conversations left out. */
  keys: Record<string, unknown>;
  messages: { at: number; message: ChatMessage }[];
  total: number;
}

/** Reads one page of a row's final conversation, streaming: a row can be larger than memory. @throws FactoryError `row/invalid`. */
export async function readConversation(path: string, page: number, most = TURNS_A_PAGE): Promise<Conversation> {
  const keys: Record<string, unknown> = {};
  const messages: Conversation['messages'] = [];
  const from = (page - 1) * most;
  let total = 0;
  for await (const part of readRow(path)) {
    if (part.key === 'messages' && part.message !== undefined) {
      if (total >= from && total < from + most) messages.push({ at: total, message: part.message });
      total += 1;
    } else if (part.message === undefined) keys[part.key] = part.value;
  }
  return { keys, messages, total };
}

/** What a call did, in a line: the tool and the thing it was done to. */
export function callLine(name: string, args: string): string {
  try {
    const parsed = JSON.parse(args) as Record<string, unknown>;
    const what = parsed.path ?? parsed.command ?? parsed.current ?? '';
    return `${name} ${String(what)}`.slice(0, 200);
  } catch {
    return `${name} ${args.slice(0, 160)}`;
  }
}

/** A look at the design, with what was then done about it: a line a call, up to the next look. */
export type Look = Omit<Critique, 'did'> & { did: string[] };

/** Calls told of what followed a look. */
const MOST_CALLS = 12;

/** The design-critique turns of a row, as the dataset's card defines them, each with the calls that followed. */
export async function readLooks(id: string, path: string): Promise<Look[]> {
  const critiques: Critique[] = [];
  for await (const critique of critiquesOf(id, path)) critiques.push(critique);
  const starts = [...new Set(critiques.map(({ at }) => at))];
  const calls = await callsAfter(path, starts);
  return critiques.map((critique) => ({ ...critique, did: calls.get(critique.at) ?? [] }));
}

/** For each message that looks, the calls of the messages after it up to the one that looks next. */
async function callsAfter(path: string, starts: readonly number[]): Promise<Map<number, string[]>> {
  const calls = new Map<number, string[]>(starts.map((at) => [at, []]));
  let open: string[] | undefined;
  let at = -1;
  for await (const part of readRow(path)) {
    if (part.key === 'snapshots') break;
    if (part.key !== 'messages' || part.message === undefined) continue;
    at += 1;
    const next = calls.get(at);
    for (const { function: call } of part.message.tool_calls ?? []) {
      if (next === undefined && open && open.length < MOST_CALLS) open.push(callLine(call.name, call.arguments));
    }
    if (next) open = next;
  }
  return calls;
}
