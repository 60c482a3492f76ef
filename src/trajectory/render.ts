import type { Literals } from '../session/literals.ts';
import { wellFormedJson } from '../support/json.ts';
import type { SessionActivity, SessionMessage } from '../session/types.ts';

const EMPTY = '""';

/** JSON on one line; '' for what cannot be written (nested deeper than the stack), because a log may hold anything. */
function compact(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
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

const QUOTED = new Map<string, string>();

/** JSON of a word that comes again and again: a type, or the name of a tool. */
function quoted(word: string): string {
  let json = QUOTED.get(word);
  if (json === undefined) {
    json = wellFormedJson(word);
    // A model may call tools that there are not.
    if (QUOTED.size < 100 && word.length < 100) QUOTED.set(word, json);
  }
  return json;
}

/** A string as JSON: as it stood in the log where that is at hand and every reader takes it. */
function literalOf(text: string, cut?: string): string {
  if (text === '') return EMPTY;
  return text.isWellFormed() ? (cut ?? JSON.stringify(text)) : wellFormedJson(text);
}

/** A turn of the assistant that more may be folded into; every string is a JSON literal. */
interface Turn {
  content: string;
  reasoning: string[];
  calls: string[];
}

/**
 * Renders one conversation, message by message, into the JSON of chat messages (`ChatMessage`, keys in that order).
 * Consecutive assistant-side records fold into one turn; whatever else is rendered closes it. `emit` is given each chat
 * message once it can no longer change, as a list of pieces of text, and how many tool calls it makes.
 */
export class Renderer {
  readonly #emit: (pieces: string[], calls: number) => void;
  #turn: Turn | null = null;

  constructor(emit: (pieces: string[], calls: number) => void) {
    this.#emit = emit;
  }

  /**
   * @param images paths of those of the message's images whose bytes are there, in order.
   * @param literals the message's long strings as JSON, where they are at hand.
   */
  add(message: SessionMessage, images: string[], literals: Literals = {}): void {
    const { type, activity } = message;
    const content = literalOf(message.text, literals.text);
    if (type === 'reasoning') this.#reason(content);
    else if (type === 'bot') this.#say(content);
    else if (type === 'activity' && activity?.kind === 'request') this.#call(activity, literals);
    else if (type === 'activity' && activity?.kind === 'response') this.#answer(activity, literals);
    else if (type === 'attachment') {
      const shown = images.map((image) => `,{"type":"image","image":${JSON.stringify(image)}}`);
      this.#close('user', type, [`[{"type":"text","text":`, content, '}', ...shown, ']']);
    } else if (type === 'instructions' || type === 'checkpoint') this.#close('system', type, [content]);
    // A message that should carry a call and carries none says nothing; all else is something the model was told.
    else if (type !== 'activity' || activity) this.#close('user', type, [content]);
  }

  /** Ends the conversation: the open turn, if any, is emitted. */
  close(): void {
    if (!this.#turn) return;
    const { content, reasoning, calls } = this.#turn;
    this.#turn = null;
    const pieces = ['{"role":"assistant","type":"bot","content":', content];
    // Paragraphs are literals: their quotes go, and the blank line between them is written as JSON has it.
    const paragraphs = reasoning.flatMap((text, i) => (i === 0 ? [text.slice(1, -1)] : ['\\n\\n', text.slice(1, -1)]));
    if (paragraphs.length > 0) pieces.push(',"reasoning":"', ...paragraphs, '"');
    if (calls.length > 0) pieces.push(',"tool_calls":[', ...calls, '}}]');
    pieces.push('}');
    // Two pieces a call: all up to its arguments, and those.
    this.#emit(pieces, calls.length / 2);
  }

  #open(): Turn {
    this.#turn ??= { content: EMPTY, reasoning: [], calls: [] };
    return this.#turn;
  }

  #close(role: string, type: string, content: string[], rest = ''): void {
    this.close();
    this.#emit([`{"role":"${role}","type":${quoted(type)},"content":`, ...content, `${rest}}`], 0);
  }

  #reason(text: string): void {
    if (text !== EMPTY) this.#open().reasoning.push(text);
  }

  #say(text: string): void {
    if (this.#turn && (this.#turn.content !== EMPTY || this.#turn.calls.length > 0)) this.close();
    this.#open().content = text;
  }

  #call({ id = '', name = '', arguments: args = '', reasoning_items }: SessionActivity, literals: Literals): void {
    const turn = this.#open();
    if (turn.reasoning.length === 0) this.#reason(literalOf(summaries(reasoning_items)));
    const open = `{"id":${literalOf(id)},"type":"function","function":{"name":${quoted(name)},"arguments":`;
    turn.calls.push(turn.calls.length > 0 ? `}},${open}` : open, literalOf(args, literals.arguments));
  }

  /** The failure if there is one, a string as it is, nothing as '', the rest as compact JSON. */
  #answer({ id = '', name = '', failure, result }: SessionActivity, literals: Literals): void {
    let content: string;
    if (failure !== undefined) content = literalOf(failure, literals.failure);
    else if (typeof result === 'string') content = literalOf(result, literals.result);
    else content = result === undefined || result === null ? EMPTY : JSON.stringify(compact(result));
    const rest = `,"tool_call_id":${literalOf(id)},"name":${quoted(name)}`;
    this.#close('tool', 'activity', [content], rest);
  }
}
