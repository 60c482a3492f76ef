/** The messages of a chat-completions request, read back into what was done, so that no state need be kept between requests. */

/** A tool call that was made, and what came of it. `at` is the index of its message. */
export interface Call {
  name: string;
  args: Record<string, unknown>;
  result: string;
  ok: boolean;
  at: number;
}

export interface Conversation {
  calls: Call[];
  /** What a person or the harness said in plain text: the kickoff, a continuation, findings, a nudge. */
  prompts: { text: string; at: number }[];
  /** Summaries that took the place of an earlier conversation. */
  checkpoints: string[];
  /** Everything the assistant said. */
  said: string;
  /** The request offers tools; without them it asks for words only, a summary say. */
  tools: boolean;
}

interface ChatMessage {
  role?: string;
  content?: unknown;
  tool_calls?: { id?: string; function?: { name?: string; arguments?: string } }[];
  tool_call_id?: string;
}

/** Reads a request body. Whatever is not as expected is passed over: a conversation may have been cut anywhere. */
export function readConversation(body: { messages?: unknown; tools?: unknown }): Conversation {
  const messages = (Array.isArray(body.messages) ? body.messages : []) as ChatMessage[];
  const results = new Map<string, string>();
  for (const message of messages) {
    if (message?.role === 'tool' && message.tool_call_id) results.set(message.tool_call_id, textOf(message.content));
  }
  const found: Conversation = {
    calls: [],
    prompts: [],
    checkpoints: [],
    said: '',
    tools: Array.isArray(body.tools) && body.tools.length > 0,
  };
  for (const [at, message] of messages.entries()) {
    const text = textOf(message?.content);
    if (message?.role === 'assistant') {
      found.said += `\n${text}`;
      for (const call of message.tool_calls ?? []) found.calls.push(readCall(call, results, at));
    } else if (message?.role === 'system' && at > 0) found.checkpoints.push(text);
    else if (message?.role === 'user' && isPrompt(message.content, text)) found.prompts.push({ text, at });
  }
  return found;
}

/** An attachment carries a picture, or is only its path when the harness dropped the picture on the way. */
function isPrompt(content: unknown, text: string): boolean {
  const picture = Array.isArray(content) && content.some((part) => (part as { type?: string })?.type !== 'text');
  return !picture && !/^Attached:/.test(text) && !/^\S+\.(png|jpe?g|gif|webp)(; \S+)*$/.test(text.trim());
}

function readCall(
  call: NonNullable<ChatMessage['tool_calls']>[number],
  results: Map<string, string>,
  at: number,
): Call {
  const result = results.get(call.id ?? '') ?? '';
  const ok = results.has(call.id ?? '') && !/^\W*(error|failed|failure|interrupted|aborted|refused)\b/i.test(result);
  return { name: call.function?.name ?? '', args: parsed(call.function?.arguments), result, ok, at };
}

function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (part as { text?: unknown })?.text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}
