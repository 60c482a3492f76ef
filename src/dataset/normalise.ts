import type { ChatMessage } from '../trajectory/types.ts';
import { readRow } from './row-reader.ts';

/** A message whose every field has one type, whatever the message: what column stores ask for. */
export interface FlatMessage {
  role: string;
  type: string;
  /** The text; of several text parts, joined by a newline. */
  content: string;
  /** Paths of the images that the message shows. */
  images: string[];
  reasoning: string;
  tool_calls: { id: string; name: string; arguments: string }[];
  tool_call_id: string;
  name: string;
}

/** A row with one type a field. */
export interface FlatRow {
  keys: Record<string, unknown>;
  messages: FlatMessage[];
  snapshots: FlatMessage[][];
}

function flatten(message: ChatMessage): FlatMessage {
  const { role, type, content, reasoning = '', tool_calls = [], tool_call_id = '', name = '' } = message;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return {
    role,
    type,
    content: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
    images: parts.flatMap((part) => (part.type === 'image' ? [part.image] : [])),
    reasoning,
    tool_calls: tool_calls.map(({ id, function: made }) => ({ id, name: made.name, arguments: made.arguments })),
    tool_call_id,
    name,
  };
}

/** Reads a whole row into memory with one type a field. @throws FactoryError `row/invalid`. */
export async function readFlat(path: string, snapshots: boolean): Promise<FlatRow> {
  const row: FlatRow = { keys: {}, messages: [], snapshots: [] };
  for await (const part of readRow(path)) {
    if (part.message === undefined) row.keys[part.key] = part.value;
    else if (!('snapshot' in part)) row.messages.push(flatten(part.message));
    else if (snapshots) {
      row.snapshots[part.snapshot] ??= [];
      row.snapshots[part.snapshot]?.push(flatten(part.message));
    }
  }
  return row;
}
