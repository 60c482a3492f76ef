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

/** A view of the design: what the model saw, what it then said, and what it then did. */
export interface Critique {
  /** Where it stands in the conversation. */
  at: number;
  /** The path that was viewed. */
  path: string;
  images: string[];
  said: string;
  thought: string;
  /** Calls between this look and the next, one line each. */
  did: string[];
}

const VIEWED = /-(?:desktop|phone|manual)\.png$/;
/** Calls told of what followed a look. */
const MOST_CALLS = 12;

function pathsOf(message: ChatMessage): string[] {
  return (message.tool_calls ?? []).flatMap(({ function: { name, arguments: args } }) => {
    if (name !== 'view') return [];
    try {
      const { path } = JSON.parse(args) as { path?: unknown };
      return typeof path === 'string' && VIEWED.test(path) ? [path] : [];
    } catch {
      return [];
    }
  });
}

const textOf = ({ content }: ChatMessage) =>
  typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');

const imagesOf = ({ content }: ChatMessage) =>
  typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'image' ? part.image : []));

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

/** The design-critique turns of a row, as the dataset's card defines them. */
export async function readCritiques(path: string): Promise<Critique[]> {
  const found: Critique[] = [];
  let viewed: string[] = [];
  let open: Critique | null = null;
  let heard = false;
  let at = 0;
  for await (const part of readRow(path)) {
    if (part.key !== 'messages' || part.message === undefined) continue;
    const { message } = part;
    if (message.role === 'assistant') {
      if (open && !heard) {
        open.said = textOf(message);
        open.thought = message.reasoning ?? '';
        heard = true;
      }
      const calls = (message.tool_calls ?? []).map((call) => callLine(call.function.name, call.function.arguments));
      if (open) open.did.push(...calls.slice(0, MOST_CALLS - open.did.length));
      viewed = [...viewed, ...pathsOf(message)];
    } else if (message.type === 'attachment' && viewed.length > 0) {
      open = { at, path: viewed.join('; '), images: imagesOf(message), said: '', thought: '', did: [] };
      [viewed, heard] = [[], false];
      found.push(open);
    }
    at += 1;
  }
  return found;
}
