import { setTimeout as sleep } from 'node:timers/promises';
import { compact } from './compaction.ts';
import { Stop } from './ending.ts';
import { asModelFailure, type ModelFailure, waitBefore } from './failure.ts';
import type { Agent } from './loop.ts';
import type { Turn } from './model.ts';
import { promptOf } from './wire.ts';

/**
 * Asks the model for its next turn, again and again where that may help, within the budgets for attempts.
 * A conversation that the provider finds too long is shortened first.
 * @throws Stop with reason `error` when it does not help; the run's own Stop when that comes meanwhile.
 */
export async function askPatiently(agent: Agent): Promise<Turn> {
  const { conversation, guards, signal } = agent;
  const sees = agent.tools.some(({ name }) => name === 'view');
  for (;;) {
    const prompt = await promptOf(agent.instructions, [...conversation.messages], {
      see: sees ? (image) => conversation.image(image) : null,
      reasoning: agent.sendsReasoning,
    });
    try {
      const turn = await agent.model.ask(prompt, agent.tools, signal);
      agent.spend(turn);
      await agent.event({ kind: 'usage', text: `${agent.limits.inputTokens} in, ${agent.limits.outputTokens} out` });
      return turn;
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = asModelFailure(thrown);
      const wantsReasoning = failure.status === 400 && /reasoning_content/.test(failure.body ?? '');
      const help = failure.tooLong ? 'shorten' : failure.passing ? 'wait' : wantsReasoning ? 'reason' : null;
      if (!help || (help === 'reason' && agent.sendsReasoning) || !guards.again()) throw given(failure);
      if (help === 'reason') {
        await agent.event({ kind: 'retry', text: 'the provider wants the reasoning back; it is sent from now on' });
        agent.sendsReasoning = true;
        continue;
      }
      if (help === 'shorten') {
        await agent.event({ kind: 'retry', text: `${failure.message}; the conversation is shortened` });
        // The model is not asked for the summary: what was just refused is what it would have to read.
        if (!(await compact(agent, false))) throw given(failure);
        continue;
      }
      const wait = waitBefore(guards.inARow, agent.retryBaseMs, failure.adviceMs);
      await agent.event({ kind: 'retry', text: `${told(failure)}; again in ${wait / 1000} s` });
      await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

const told = ({ message, status }: ModelFailure) => (status === undefined ? message : `${message} (${status})`);

function given(failure: ModelFailure): Stop {
  const { status, body, requestBytes } = failure;
  return new Stop({
    reason: 'error',
    message: 'the provider failed',
    error: told(failure),
    failure: {
      ...(status === undefined ? {} : { status }),
      ...(body === undefined ? {} : { response_body: body }),
      ...(requestBytes === undefined ? {} : { request_bytes: requestBytes }),
    },
  });
}
