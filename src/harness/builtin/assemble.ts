import { mkdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionEvent } from '../../session/types.ts';
import type { SessionLog } from '../../session/write.ts';
import { roomIn, weightOf } from './compaction.ts';
import type { AgentConfig } from './config.ts';
import { Conversation } from './conversation.ts';
import { Guards } from './guards.ts';
import { Limits } from './limits.ts';
import type { Agent } from './loop.ts';
import { Model } from './model.ts';
import { instructionsOf } from './texts.ts';
import { schemaOf, toolsFor } from './tools/index.ts';
import { contentOf } from './tools/paths.ts';

/** Characters of AGENTS.md that reach the model: a larger one would fill the context before the work begins. */
const LONGEST_CONTRACT = 120_000;

/** Characters one tool result may have, whatever the context. */
const LONGEST_RESULT = 100_000;

/** Puts together what a run is made of. `checkout` is a real path; `told` takes one line for each event. */
export async function assemble(given: {
  config: AgentConfig;
  checkout: string;
  sessions: string;
  task: string;
  log: SessionLog;
  signal: AbortSignal;
  told: (line: string) => void;
  clean: (text: string) => string;
}): Promise<Agent> {
  const { config, checkout, log, signal, clean } = given;
  await mkdir(tmpdir(), { recursive: true });
  const temp = await realpath(tmpdir());
  const contract = await contentOf(join(checkout, 'AGENTS.md'), 'AGENTS.md').catch(() => null);
  const limits = new Limits(config.limits);
  const conversation = new Conversation(log, given.sessions);
  const tools = toolsFor(config.model);
  const instructions = instructionsOf({
    task: given.task,
    contract: contract?.toString('utf8').slice(0, LONGEST_CONTRACT) ?? null,
    checkout,
    temp,
  });
  const overhead = Math.ceil((instructions.length + JSON.stringify(tools.map(schemaOf)).length) / 4);
  // What the provider counted last, and of how many messages: only what came after them is guessed.
  let counted = { tokens: 0, messages: 0 };
  return {
    model: new Model(config.model, config.guards.idleMs),
    tools,
    context: {
      checkout,
      temp,
      signal,
      // A result may fill a fifth of the context, at four characters a token.
      maxOutput: Math.min(LONGEST_RESULT, Math.floor((config.model.context * 4) / 5)),
      vision: tools.some(({ name }) => name === 'view'),
    },
    conversation,
    limits,
    guards: new Guards(config.guards),
    signal,
    instructions,
    room: roomIn(config.model.context),
    retryBaseMs: config.guards.retryBaseMs,
    sendsReasoning: false,
    size: () => {
      const { messages } = conversation;
      const known = messages.length >= counted.messages ? counted : { tokens: 0, messages: messages.length };
      // The larger of both: some providers leave out of their count what they had cached.
      return Math.max(known.tokens + weightOf(messages.slice(known.messages)), overhead + weightOf(messages));
    },
    spend: ({ usage }) => {
      limits.inputTokens += usage.input;
      limits.outputTokens += usage.output;
      limits.dollars += usage.dollars;
      counted = { tokens: usage.input, messages: conversation.messages.length };
    },
    event: async (event) => {
      const cleaned = event.text === undefined ? event : { ...event, text: clean(event.text) };
      given.told(lineOf(cleaned));
      await log.event(cleaned);
    },
    keep: ({ bytes, mediaType, width, height, origin, detail }) =>
      log.putImage(bytes, mediaType, { width, height, origin, ...(detail ? { detail } : {}) }),
  };
}

function lineOf({ kind, iteration, tool, text }: SessionEvent): string {
  return [kind, iteration, tool, text?.slice(0, 300).replace(/\s+/g, ' ')].filter((part) => part).join(' ');
}
