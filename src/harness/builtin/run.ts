import { realpath } from 'node:fs/promises';
import { readOrder, renderTask } from '../../config/order.ts';
import type { SessionResult } from '../../session/types.ts';
import { SessionLog } from '../../session/write.ts';
import { asFactoryError } from '../../support/errors.ts';
import { redactor } from '../../support/redact.ts';
import { assemble } from './assemble.ts';
import type { AgentConfig } from './config.ts';
import { type Ending, Stop } from './ending.ts';
import { type Agent, work } from './loop.ts';
import { earlierSession } from './resume.ts';
import { BEGIN, continueWith } from './texts.ts';

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
 * @returns the result as recorded, and the new session's id.
 * @throws FactoryError when the run cannot begin: no such order, session or checkout.
 */
export async function runAgent(
  run: AgentRun,
  told: (line: string) => void = () => {},
  stop: AbortSignal = new AbortController().signal,
): Promise<SessionResult & { session: string }> {
  const { config, resume } = run;
  const { provider, model, token } = config.model;
  const clean = redactor(token ? [token] : []);
  const earlier = resume === undefined ? null : await earlierSession(run.sessions, resume);
  const task = earlier ? earlier.meta.task : renderTask(await readOrder(run.order ?? ''));
  const checkout = await realpath(run.checkout);
  const log = await SessionLog.create(run.sessions, {
    task,
    model,
    provider,
    driver: 'openai-compatible',
    workdir: checkout,
    ...(resume === undefined ? {} : { resumedFrom: resume }),
  });
  told(`session ${log.id}${resume === undefined ? '' : ` continues ${resume}`}: ${model} at ${provider}`);

  const signal = endingSignal(stop, config.limits.timeMs);
  let agent: Agent | undefined;
  let ending: Ending;
  try {
    agent = await assemble({ config, checkout, sessions: run.sessions, task, log, signal, told, clean });
    if (earlier && resume !== undefined) {
      await log.adoptImages(
        resume,
        earlier.messages.flatMap(({ images = [] }) => images),
      );
      agent.conversation.add(...earlier.messages);
    }
    agent.conversation.note(earlier ? continueWith(run.findings) : BEGIN);
    await agent.conversation.flush();
    ending = await work(agent);
  } catch (thrown) {
    const { message, mend } = asFactoryError(thrown);
    ending = { reason: 'error', message: mend, error: message };
  }
  const result = resultOf(ending, agent, clean);
  told(`${result.reason}: ${(result.error ?? result.message ?? '').split('\n')[0]}`);
  await log.result(result).catch((error) => told(`the result could not be recorded: ${error.message}`));
  await log.close();
  return { ...result, session: log.id };
}

/** A signal that is aborted with the Stop that ends the run: because it is stopped from outside, or its time is up. */
function endingSignal(stop: AbortSignal, timeMs: number | undefined): AbortSignal {
  const controller = new AbortController();
  const abort = (reason: string, message: string) => controller.abort(new Stop({ reason, message }));
  const stopped = () => abort('aborted', 'the run was stopped by a signal');
  if (stop.aborted) stopped();
  else stop.addEventListener('abort', stopped, { once: true });
  if (timeMs !== undefined) {
    // A timer holds 24 days; it does not keep the process alive.
    setTimeout(() => abort('time', 'the time limit is reached'), Math.min(timeMs, 2 ** 31 - 1)).unref();
  }
  return controller.signal;
}

function resultOf(ending: Ending, agent: Agent | undefined, clean: (text: string) => string): SessionResult {
  const { reason, message, error, failure } = ending;
  const body = failure?.response_body;
  return {
    reason,
    ...(message === undefined ? {} : { message }),
    ...(error === undefined ? {} : { error: clean(error) }),
    // A provider may quote the token it refused.
    ...(failure ? { failure: { ...failure, ...(body === undefined ? {} : { response_body: clean(body) }) } } : {}),
    code: reason === 'settled' ? 0 : 1,
    iterations: agent?.limits.iterations ?? 0,
    calls: agent?.limits.calls ?? 0,
    continuations: agent?.guards.continuations ?? 0,
    cycles: agent?.guards.cycles ?? 0,
    settles: agent?.guards.settles ?? 0,
    inputTokens: agent?.limits.inputTokens ?? 0,
    outputTokens: agent?.limits.outputTokens ?? 0,
  };
}
