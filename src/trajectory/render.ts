import type { SessionActivity, SessionMessage } from '../session/types.ts';
import type { ChatMessage, ContentPart } from './types.ts';

/** JSON on one line; '' for what cannot be written (nested deeper than the stack), because a log may hold anything. */
function compact(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/** What a tool answered, as text: the failure if there is one, a string as it is, nothing as '', the rest as JSON. */
function answer({ failure, result }: SessionActivity): string {
  if (failure !== undefined) return failure;
  if (typeof result === 'string') return result;
  return result === undefined || result === null ? '' : compact(result);
}

/** The summaries' texts in a request's opaque reasoning state, each trimmed, joined by a blank line. */
function summaries(items: unknown): string {
  if (!Array.isArray(items)) return '';
  return items
    .flatMap((item) => (Array.isArray(item?.summary) ? (item.summary as unknown[]) : []))
    .map((part) => (part as { text?: unknown } | null)?.text)
    .map((text) => (typeof text === 'string' ? text.trim() : ''))
    .filter((text) => text !== '')
    .join('\n\n');
}

/**
 * Renders one conversation, message by message, into chat messages. Consecutive assistant-side records fold into one
 * turn; whatever else is rendered closes it. `emit` is given each chat message once it can no longer change.
 */
export class Renderer {
  readonly #emit: (message: ChatMessage) => void;
  #turn: ChatMessage | null = null;

  constructor(emit: (message: ChatMessage) => void) {
    this.#emit = emit;
  }

  /** @param images paths of those of the message's images whose bytes are there, in order. */
  add(message: SessionMessage, images: string[]): void {
    const { type, text: content, activity } = message;
    if (type === 'reasoning') this.#reason(content);
    else if (type === 'bot') this.#say(content);
    else if (type === 'activity' && activity?.kind === 'request') this.#call(activity);
    else if (type === 'activity' && activity?.kind === 'response') this.#answer(activity);
    else if (type === 'attachment') {
      const shown = images.map((image): ContentPart => ({ type: 'image', image }));
      this.#close({ role: 'user', type, content: [{ type: 'text', text: content }, ...shown] });
    } else if (type === 'instructions' || type === 'checkpoint') this.#close({ role: 'system', type, content });
    // A message that should carry a call and carries none says nothing; all else is something the model was told.
    else if (type !== 'activity' || activity) this.#close({ role: 'user', type, content });
  }

  /** Ends the conversation: the open turn, if any, is emitted. */
  close(): void {
    if (this.#turn) this.#emit(this.#turn);
    this.#turn = null;
  }

  #open(): ChatMessage {
    this.#turn ??= { role: 'assistant', type: 'bot', content: '' };
    return this.#turn;
  }

  #close(message: ChatMessage): void {
    this.close();
    this.#emit(message);
  }

  #reason(text: string): void {
    if (text === '') return;
    const turn = this.#open();
    turn.reasoning = turn.reasoning === undefined ? text : `${turn.reasoning}\n\n${text}`;
  }

  #say(text: string): void {
    if (this.#turn && (this.#turn.content !== '' || this.#turn.tool_calls)) this.close();
    this.#open().content = text;
  }

  #call({ id = '', name = '', arguments: args = '', reasoning_items }: SessionActivity): void {
    const turn = this.#open();
    if (turn.reasoning === undefined) {
      const reasoning = summaries(reasoning_items);
      if (reasoning !== '') turn.reasoning = reasoning;
    }
    turn.tool_calls ??= [];
    turn.tool_calls.push({ id, type: 'function', function: { name, arguments: args } });
  }

  #answer(activity: SessionActivity): void {
    const { id = '', name = '' } = activity;
    this.#close({ role: 'tool', type: 'activity', content: answer(activity), tool_call_id: id, name });
  }
}

/** A chat message's JSON with its keys in the order rows have them. */
export function chatJson(message: ChatMessage): string {
  const { role, type, content, reasoning, tool_calls, tool_call_id, name } = message;
  return JSON.stringify({ role, type, content, reasoning, tool_calls, tool_call_id, name });
}
