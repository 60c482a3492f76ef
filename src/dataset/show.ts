import type { ChatMessage } from '../trajectory/types.ts';
import { readRow } from './row-reader.ts';

/** A tool's answer longer than this is cut for reading, in characters. */
const LONGEST = 2000;

/** Control characters, but for tab and newline, could drive the terminal that shows them. */
function harmless(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}

function indented(text: string): string {
  return harmless(text).replace(/^/gm, '    ');
}

function cut(text: string, whole: boolean): string {
  return whole || text.length <= LONGEST
    ? text
    : `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters`;
}

/** One message as a person reads it. */
function told(message: ChatMessage, index: number, whole: boolean): string {
  const { role, type, content, reasoning, tool_calls = [], name } = message;
  const lines = [`[${index}] ${role}${role === 'assistant' ? '' : ` (${harmless(name ?? type)})`}`];
  if (reasoning) lines.push(indented(reasoning).replace(/^ {4}/gm, '  | '));
  if (typeof content === 'string') {
    if (content !== '') lines.push(indented(cut(content, whole || role !== 'tool')));
  } else {
    for (const part of content)
      lines.push(part.type === 'text' ? indented(part.text) : `    <image ${harmless(part.image)}>`);
  }
  for (const { function: made } of tool_calls)
    lines.push(`  > ${harmless(made.name)} ${harmless(cut(made.arguments, whole))}`);
  return `${lines.join('\n')}\n`;
}

/** A row's conversation, readable, message by message; images are named. @param whole whether nothing is cut. */
export async function* conversationText(path: string, whole = false): AsyncGenerator<string> {
  let index = 0;
  for await (const part of readRow(path)) {
    if (part.key === 'snapshots') break;
    if (part.key === 'messages' && part.message) {
      yield told(part.message as ChatMessage, index, whole);
      index += 1;
    }
  }
}
