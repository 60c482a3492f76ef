import { readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOrder, renderTask } from '../../config/order.ts';
import type { SessionResult } from '../../session/types.ts';
import { SessionLog } from '../../session/write.ts';
import { asFactoryError } from '../../support/errors.ts';
import { redactor } from '../../support/redact.ts';
import { roomIn, weightOf } from './compaction.ts';
import type { AgentConfig } from './config.ts';
import { Conversation } from './conversation.ts';
import { type Ending, Stop } from './ending.ts';
import { Guards } from './guards.ts';
import { Limits } from './limits.ts';
import { type Agent, work } from './loop.ts';
import { Model } from './model.ts';
import { earlierSession } from './resume.ts';
import { BEGIN, continueWith, instructionsOf } from './texts.ts';
import { schemaOf, toolsFor } from './tools/index.ts';

/** Characters of AGENTS.md that reach the model: a larger one would fill the context before the work begins. */
const LONGEST_CONTRACT = 120_000;

/** One run of the built-in agent. Paths are absolute. */
export interface AgentRun {
  checkout: string;
  sessions: string;
  config: AgentConfig;
  /** The order file of a fresh run… */
  order?: string;
  /** …or the id of the session to continue, */
  resume?: string;
  /** and what the gates found in it, for a rework. */
  findings?: string;
}

/**
 * Works one run: opens a log, works, and records how it ended, whatever happens.
 * @param told takes one line for each thing that happens; never the token.
 * @param stop aborted (by a signal) when the run is to end.
 */
export async function runAgent(
  run: AgentRun,
  told: (line: string) => void = () => {},
  stop: AbortSignal = new AbortController().signal,
): Promise<SessionResult & { session: string }> {
  const { config } = run;
  const clean = redactor(config.model.token ? [config.model.token] : []);
  const earlier = run.resume === undefined ? null : await earlierSession(run.sessions, run.resume);
  const task = earlier ? earlier.meta.task : renderTask(await readOrder(run.order ?? ''));
  const checkout = await realpath(run.checkout);
  const temp = await realpath(tmpdir());
  const contract = await readFile(join(checkout, 'AGENTS.md'), 'utf8').catch(() => null);
  const { provider, model } = config.model;
  const log = await SessionLog.create(run.sessions, {
    task,
    model,
    provider,
    driver: 'openai-compatible',
    workdir: checkout,
    ...(run.resume === undefined ? {} : { resumedFrom: run.resume }),
  });
  told(`session ${log.id}${run.resume === undefined ? '' : ` continues ${run.resume}`}: ${model} at ${provider}`);

  const limits = new Limits(config.limits);
  const guards = new Guards(config.guards);
  const conversation = new Conversation(log, run.sessions);
  const tools = toolsFor(config.model);
  const instructions = instructionsOf({ task, contract: contract?.slice(0, LONGEST_CONTRACT) ?? null, checkout, temp });
  const overhead = Math.ceil((instructions.length + JSON.stringify(tools.map(schemaOf)).length) / 4);
  const signal = ending(stop, config.limits.timeMs);
  // What the provider counted last, and how many messages that was: only what came after is guessed.
  let counted = { tokens: 0, messages: 0 };

  const agent: Agent = {
    model: new Model(config.model, config.guards.idleMs),
    tools,
    context: {
      checkout,
      temp,
      signal,
      // A result may fill a fifth of the context, at four characters a token.
      maxOutput: Math.min(100_000, Math.floor((config.model.context * 4) / 5)),
      vision: tools.some(({ name }) => name === 'view'),
    },
    conversation,
    limits,
    guards,
    signal,
    instructions,
    room: roomIn(config.model.context),
    retryBaseMs: config.guards.retryBaseMs,
    size: () => {
      const guessed = overhead + weightOf(conversation.messages);
      const fresh =
        counted.messages > conversation.messages.length ? null : conversation.messages.slice(counted.messages);
      return fresh && counted.tokens > 0 ? counted.tokens + weightOf(fresh) : guessed;
    },
    spend: ({ usage }) => {
      limits.inputTokens += usage.input;
      limits.outputTokens += usage.output;
      counted = { tokens: usage.input, messages: conversation.messages.length };
    },
    event: async (event) => {
      told(clean(line(event)));
      await log.event(event);
    },
    keep: async ({ bytes, mediaType, ...facts }) => {
      const { width, height, origin, detail } = facts;
      return [await log.putImage(bytes, mediaType, { width, height, origin, ...(detail ? { detail } : {}) })];
    },
  };

  let end: Ending = { reason: 'error', error: 'the run was not finished' };
  try {
    if (earlier && run.resume !== undefined) {
      await log.adoptImages(
        run.resume,
        earlier.messages.flatMap(({ images = [] }) => images),
      );
      conversation.add(...earlier.messages);
    }
    conversation.note(earlier ? continueWith(run.findings) : BEGIN);
    await conversation.flush();
    end = await work(agent);
  } catch (thrown) {
    const error = thrown instanceof Stop ? null : asFactoryError(thrown);
    end = error ? { reason: 'error', error: error.message, message: error.mend } : (thrown as Stop).ending;
  } finally {
    const result = resultOf(end, limits, guards, clean);
    told(clean(`${result.reason}: ${(result.error ?? result.message ?? '').split('\n')[0]}`));
    await log.result(result).catch((error) => told(clean(`the result could not be recorded: ${error.message}`)));
    await log.close();
  }
  return { ...resultOf(end, limits, guards, clean), session: log.id };
}

/** A signal that is aborted with the Stop that ends the run: by whoever stops it, or by the time limit. */
function ending(stop: AbortSignal, timeMs: number | undefined): AbortSignal {
  const controller = new AbortController();
  const abort = (reason: string, message: string) => controller.abort(new Stop({ reason, message }));
  const stopped = () => abort('aborted', 'the run was stopped by a signal');
  if (stop.aborted) stopped();
  else stop.addEventListener('abort', stopped, { once: true });
  if (timeMs !== undefined) {
    setTimeout(() => abort('time', 'the time limit is reached'), Math.min(timeMs, 2 ** 31 - 1)).unref();
  }
  return controller.signal;
}

function resultOf(end: Ending, limits: Limits, guards: Guards, clean: (text: string) => string): SessionResult {
  const { failure } = end;
  return {
    reason: end.reason,
    ...(end.message === undefined ? {} : { message: end.message }),
    ...(end.error === undefined ? {} : { error: clean(end.error) }),
    ...(failure
      ? { failure: { ...failure, ...(failure.response_body ? { response_body: clean(failure.response_body) } : {}) } }
      : {}),
    code: end.reason === 'settled' ? 0 : 1,
    iterations: limits.iterations,
    calls: limits.calls,
    continuations: guards.continuations,
    cycles: guards.cycles,
    settles: guards.settles,
    inputTokens: limits.inputTokens,
    outputTokens: limits.outputTokens,
  };
}

function line({
  kind,
  tool,
  text,
  iteration,
}: {
  kind: string;
  tool?: string;
  text?: string;
  iteration?: number;
}): string {
  return [kind, iteration, tool, text?.slice(0, 300).replace(/\s+/g, ' ')].filter((part) => part).join(' ');
}
