import type { SessionEvent, SessionImage } from '../../session/types.ts';
import { compact } from './compaction.ts';
import type { Conversation } from './conversation.ts';
import { type Ending, Stop } from './ending.ts';
import type { Guards } from './guards.ts';
import type { Limits } from './limits.ts';
import type { Call, Model, Turn } from './model.ts';
import { askPatiently } from './patience.ts';
import { argumentsOf, perform } from './tools/index.ts';
import { type ShownImage, type Tool, type ToolContext, ToolFailure } from './tools/tool.ts';

/** How many images one round may show: each costs as much as pages of text. */
const MOST_IMAGES = 8;

/** Everything a run is made of. */
export interface Agent {
  model: Model;
  tools: Tool[];
  context: ToolContext;
  conversation: Conversation;
  limits: Limits;
  guards: Guards;
  /** Aborted with a Stop when the run is to end: a signal, or the time limit. */
  signal: AbortSignal;
  /** The system prompt. */
  instructions: string;
  /** Tokens the conversation may have before it is shortened. */
  room: number;
  /** The first wait after a failed request. */
  retryBaseMs: number;
  /** Whether this provider wants the model's reasoning back. */
  sendsReasoning: boolean;
  /** Tokens of the conversation as it stands. */
  size(): number;
  /** Counts what a turn cost. */
  spend(turn: Turn): void;
  /** Records something that happened, and tells it on stdout. */
  event(event: SessionEvent): Promise<void>;
  /** Keeps an image beside the log. */
  keep(image: ShownImage): Promise<SessionImage>;
}

/** Works until the run ends. Whatever ended it comes back the same way; what the log cannot take is thrown. */
export async function work(agent: Agent): Promise<Ending> {
  try {
    for (;;) await round(agent);
  } catch (thrown) {
    if (thrown instanceof Stop) return thrown.ending;
    throw thrown;
  }
}

/** One round: notices, the model's turn, its calls, a nudge if it needs one; then all of it is written to the log. */
async function round(agent: Agent): Promise<void> {
  const { conversation, limits, guards } = agent;
  agent.signal.throwIfAborted();
  limits.check();
  limits.iterations += 1;
  await agent.event({ kind: 'iteration', iteration: limits.iterations });
  try {
    for (const text of limits.notices()) {
      conversation.note(text);
      await agent.event({ kind: 'notice', text });
    }
    if (agent.size() > agent.room) await compact(agent);

    const turn = await askPatiently(agent);
    await say(agent, 'reasoning', turn.reasoning);
    await say(agent, 'bot', turn.text);
    const before = conversation.messages.length;
    // An answer that was cut off may end in half a call: none of them is made.
    if (!turn.cut) await make(agent, turn);
    const nudge = guards.judge(turn, conversation.messages.slice(before));
    if (nudge) {
      conversation.note(nudge.text);
      await agent.event({ kind: 'notice', text: nudge.event });
    }
  } finally {
    await conversation.flush();
  }
}

async function say(agent: Agent, type: 'reasoning' | 'bot', text: string): Promise<void> {
  if (text === '') return;
  agent.conversation.add({ type, text });
  await agent.event({ kind: 'message', text });
}

/** Makes the turn's calls in their order, and shows the images they brought in one message after them. */
async function make(agent: Agent, turn: Turn): Promise<void> {
  const shown: ShownImage[] = [];
  // Calls made together share the room of one, so that no round outgrows the context.
  const maxOutput = Math.max(2000, Math.floor(agent.context.maxOutput / Math.max(1, turn.calls.length)));
  try {
    for (const [index, call] of turn.calls.entries()) {
      agent.limits.check();
      // The reasoning state belongs to the turn and goes back once, with its first call.
      const details = index === 0 ? turn.details : undefined;
      const activity = { id: call.id, name: call.name, arguments: call.arguments };
      const answer = await answerTo(agent, call, { ...agent.context, maxOutput }, shown);
      agent.conversation.add(
        {
          type: 'activity',
          text: '',
          activity: { kind: 'request', ...activity, ...(details ? { reasoning_details: details } : {}) },
        },
        {
          type: 'activity',
          text: answer.result ?? answer.failure ?? '',
          activity: { kind: 'response', ...activity, ...answer },
        },
      );
    }
  } finally {
    if (shown.length > 0) {
      const images = await Promise.all(shown.map((image) => agent.keep(image)));
      agent.conversation.add({ type: 'attachment', text: shown.map(({ origin }) => origin).join('; '), images });
    }
  }
}

/** Does one call: its result, or why there is none. @throws Stop when it is the call that ends the run. */
async function answerTo(
  agent: Agent,
  { name, arguments: text }: Call,
  context: ToolContext,
  shown: ShownImage[],
): Promise<{ result?: string; failure?: string }> {
  try {
    const tool = agent.tools.find((one) => one.name === name);
    const names = agent.tools.map((one) => one.name).join(', ');
    if (!tool) throw new ToolFailure(`there is no tool ${name}; there are ${names}`);
    const args = argumentsOf(tool, text);
    if (name === 'success') throw new Stop({ reason: 'settled', message: String(args.summary) });
    if (name === 'failure') throw new Stop({ reason: 'failed', message: String(args.reason) });
    agent.limits.calls += 1;
    await agent.event({ kind: 'toolCallStart', tool: name, text });
    if (agent.signal.aborted) throw new ToolFailure('interrupted: the run is over');
    if (name === 'view' && shown.length >= MOST_IMAGES) {
      throw new ToolFailure(`at most ${MOST_IMAGES} images can be seen in one turn; view it in the next`);
    }
    const output = await perform(tool, args, context);
    if (output.image) shown.push(output.image);
    await agent.event({ kind: 'toolCallEnd', tool: name });
    return { result: output.text };
  } catch (thrown) {
    if (!(thrown instanceof ToolFailure)) throw thrown;
    await agent.event({ kind: 'toolCallError', tool: name, text: thrown.message });
    return { failure: thrown.message };
  }
}
