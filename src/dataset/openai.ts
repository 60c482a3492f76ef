import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FlatMessage, readFlat } from './normalise.ts';

type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

/** A message as OpenAI's chat completions take it, and nothing of ours. */
export interface OpenAIMessage {
  role: string;
  content: string | Part[];
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** How an image is carried: its bytes in a data URL, or its path. */
export type ImageAs = (path: string) => Promise<string>;

const TYPES: Record<string, string> = { png: 'png', jpg: 'jpeg', gif: 'gif', webp: 'webp' };

/** Carries images in the file itself. @param folder the row's folder. */
export function asDataUrl(folder: string): ImageAs {
  return async (path) => {
    const type = TYPES[path.split('.').at(-1) ?? ''];
    const mime = type === undefined ? 'application/octet-stream' : `image/${type}`;
    return `data:${mime};base64,${(await readFile(join(folder, path))).toString('base64')}`;
  };
}

/** Calls that were never answered, and answers to no call, are refused everywhere: they go. An id may come again. */
function answeredOnly(messages: FlatMessage[]): FlatMessage[] {
  const open = new Map<string, FlatMessage['tool_calls']>();
  const answered = new Set<FlatMessage['tool_calls'][number]>();
  const kept: FlatMessage[] = [];
  for (const message of messages) {
    for (const call of message.tool_calls) {
      const waiting = open.get(call.id) ?? [];
      waiting.push(call);
      open.set(call.id, waiting);
    }
    if (message.role === 'tool') {
      const call = open.get(message.tool_call_id)?.shift();
      if (!call) continue;
      answered.add(call);
    }
    kept.push(message);
  }
  return kept.map((message) => ({ ...message, tool_calls: message.tool_calls.filter((call) => answered.has(call)) }));
}

async function contentOf({ content, images }: FlatMessage, imageAs: ImageAs): Promise<string | Part[]> {
  if (images.length === 0) return content;
  const shown = images.map(
    async (path): Promise<Part> => ({ type: 'image_url', image_url: { url: await imageAs(path) } }),
  );
  return [{ type: 'text', text: content }, ...(await Promise.all(shown))];
}

const parts = (content: string | Part[]): Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

function joined(a: string | Part[], b: string | Part[]): string | Part[] {
  if (typeof a === 'string' && typeof b === 'string') return [a, b].filter((text) => text !== '').join('\n\n');
  return [...parts(a), ...parts(b)];
}

/** Two messages of one side in a row become one; tool answers and calls stay apart. */
function folded(messages: OpenAIMessage[]): OpenAIMessage[] {
  const folds: OpenAIMessage[] = [];
  for (const message of messages) {
    const last = folds.at(-1);
    if (last && last.role === message.role && message.role !== 'tool') {
      last.content = joined(last.content, message.content);
      if (message.tool_calls) last.tool_calls = [...(last.tool_calls ?? []), ...message.tool_calls];
    } else if (message.role !== 'assistant' || message.tool_calls || message.content !== '') folds.push({ ...message });
  }
  return folds;
}

/** What breaks the strict order of a chat: null when nothing does. System messages may stand anywhere. */
export function disorder(messages: OpenAIMessage[]): string | null {
  const open: string[] = [];
  let last = '';
  for (const [index, { role, tool_calls, tool_call_id }] of messages.entries()) {
    if (role === 'system') continue;
    if (role === 'tool') {
      if (!open.includes(tool_call_id ?? '')) return `message ${index} answers no open call`;
      open.splice(open.indexOf(tool_call_id ?? ''), 1);
    } else {
      if (open.length > 0) return `message ${index} comes before the call ${open[0]} is answered`;
      if (role === last) return `message ${index} is the second of ${role} in a row`;
    }
    open.push(...(tool_calls ?? []).map(({ id }) => id));
    last = role;
  }
  return open.length > 0 ? `the call ${open[0]} is never answered` : null;
}

/** A row's conversation for OpenAI-style training files. `trouble` says why it must not be used, else null. */
export async function openaiOf(
  path: string,
  imageAs: ImageAs,
): Promise<{ id: string; messages: OpenAIMessage[]; trouble: string | null }> {
  const { keys, messages } = await readFlat(path, false);
  const plain: OpenAIMessage[] = [];
  for (const message of answeredOnly(messages)) {
    const { role, tool_call_id, tool_calls } = message;
    const made = tool_calls.map(({ id, ...call }) => ({ id, type: 'function' as const, function: call }));
    plain.push({
      role,
      content: await contentOf(message, imageAs),
      ...(made.length > 0 ? { tool_calls: made } : {}),
      ...(role === 'tool' ? { tool_call_id } : {}),
    });
  }
  const done = folded(plain);
  return { id: String(keys.id ?? dirname(path)), messages: done, trouble: disorder(done) };
}
