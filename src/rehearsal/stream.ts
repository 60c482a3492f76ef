import type { Turn } from './script/turn.ts';

/** Characters in one piece of words, and of a call's arguments: several pieces each, as a model streams them. */
const WORDS = 48;
const ARGUMENTS = 4096;

/** Roughly what a tokeniser would count. */
export const tokens = (text: string) => Math.ceil(text.length / 4);

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface Completion {
  id: string;
  model: string;
  turn: Turn;
  usage: Usage;
}

/** Ids that no other turn of the conversation has: `call_<turn>_<n>`. */
const callId = (completion: Completion, n: number) => `call_${completion.id.replace(/^\D+/, '')}_${n + 1}`;

const toolCalls = (completion: Completion) =>
  completion.turn.calls.map(({ name, args }, n) => ({
    id: callId(completion, n),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));

const finish = ({ turn }: Completion) => (turn.calls.length ? 'tool_calls' : 'stop');

/** The answer in one piece. */
export function whole(completion: Completion): object {
  const { id, model, turn, usage } = completion;
  const calls = toolCalls(completion);
  const message = {
    role: 'assistant',
    content: turn.text ?? '',
    reasoning: turn.reasoning,
    ...(calls.length ? { tool_calls: calls } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: finish(completion) }];
  return { id, object: 'chat.completion', created: now(), model, choices, usage };
}

/** The answer as server-sent events: reasoning, words, calls in fragments, why it ended, what it used, `[DONE]`. */
export function* events(completion: Completion): Generator<string> {
  const { id, model, turn, usage } = completion;
  const created = now();
  const event = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices, ...more })}\n\n`;
  const delta = (value: object, reason: string | null = null) =>
    event([{ index: 0, delta: value, finish_reason: reason }]);
  yield delta({ role: 'assistant', content: '' });
  for (const piece of cut(turn.reasoning, WORDS)) yield delta({ reasoning: piece });
  for (const piece of cut(turn.text ?? '', WORDS)) yield delta({ content: piece });
  for (const [index, { function: called, ...head }] of toolCalls(completion).entries()) {
    yield delta({ tool_calls: [{ index, ...head, function: { name: called.name, arguments: '' } }] });
    // Two pieces at the least, so that a reader that expects the arguments whole is found out.
    const size = Math.min(ARGUMENTS, Math.ceil(called.arguments.length / 2));
    for (const piece of cut(called.arguments, size)) {
      yield delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  yield delta({}, finish(completion));
  yield event([], { usage });
  yield 'data: [DONE]\n\n';
}

const now = () => Math.floor(Date.now() / 1000);

/** Cuts a text into pieces of at most `size` characters; none is cut within a surrogate pair. */
function* cut(text: string, size: number): Generator<string> {
  let from = 0;
  while (from < text.length) {
    let to = Math.min(text.length, from + size);
    const code = text.charCodeAt(to - 1);
    if (to < text.length && code >= 0xd800 && code <= 0xdbff) to += 1;
    yield text.slice(from, to);
    from = to;
  }
}
