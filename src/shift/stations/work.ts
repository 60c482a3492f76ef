import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { drive } from '../../harness/driver.ts';
import { type Relay, startRelay } from '../../harness/relay.ts';
import type { HarnessOutcome } from '../../harness/types.ts';
import { startRehearsal } from '../../rehearsal/server.ts';
import { chainOf } from '../../session/chain.ts';
import { newestSession } from '../../session/read.ts';
import { told } from '../../config/units.ts';
import { FactoryError } from '../../support/errors.ts';
import { nameChainFolder } from '../sessions.ts';
import { everySnapshot } from '../snapshots.ts';
import type { Context, Station, StationResult } from '../station.ts';

/** Runs the agent in the checkout until it settles, fails, or its time is over; the work is snapshotted all along. */
export const work: Station = {
  name: 'work',
  skip({ facts }) {
    if (facts.idle) return facts.idle;
    if (!facts.branch) return 'there is no checkout to work in';
    return null;
  },
  async run(context) {
    const { facts, config } = context;
    if (facts.finishedBefore && context.attempt === 1) return judgeOnly(context);
    const left = config.time_limit - (facts.workedMs ?? 0);
    const closers: (() => Promise<void>)[] = [];
    try {
      const relay = await openRelay(context, closers);
      return await agentAtWork(context, relay, left);
    } finally {
      for (const close of closers.reverse()) await close();
    }
  },
};

/** Work that an earlier shift finished: nothing to do but to take it as it is. */
async function judgeOnly({ id, facts }: Context): Promise<StationResult> {
  const { commit } = await mustLine(facts).snapshot({
    shift: id,
    session: facts.session ?? null,
    continued: facts.continued ?? 0,
  });
  const session = facts.session as string;
  const chain = await chainOf(facts.sessions as string, session);
  return {
    status: 'skipped',
    summary: 'an earlier shift finished this work; no agent is needed',
    facts: { work: commit },
    record: { session, chain, outcome: 'settled' },
  };
}

async function openRelay({ facts, config, log }: Context, closers: (() => Promise<void>)[]): Promise<Relay> {
  const { upstream } = must(facts.staff);
  let baseUrl = upstream.baseUrl;
  if (upstream.provider === 'rehearsal') {
    const rehearsal = await startRehearsal();
    closers.push(() => rehearsal.close());
    baseUrl = rehearsal.baseUrl;
  }
  const relay = await startRelay({
    upstream: { ...upstream, baseUrl },
    caps: { ...(config.tokens ? { tokens: config.tokens } : {}), ...(config.cost ? { dollars: config.cost } : {}) },
    log: (event) => log.info({ relay: event }, 'relay'),
  });
  closers.push(() => relay.close());
  return relay;
}

async function agentAtWork(context: Context, relay: Relay, timeMs: number): Promise<StationResult> {
  const { id, folder, config, facts, log, signal, onActivity } = context;
  const staffed = must(facts.staff);
  const line = mustLine(facts);
  const scratch = join(config.data, 'scratch', `${id}-${context.attempt}`);
  const order = join(scratch, 'order.yaml');
  const records = join(config.data, 'records');
  for (const path of [scratch, records]) await mkdir(path, { recursive: true, mode: 0o700 });
  await copyFile(resolve(config.root, config.order), order);

  const sessions = facts.sessions as string;
  const note = async () => ({
    shift: id,
    session: (await newestSession(sessions)) ?? facts.session ?? null,
    continued: facts.continued ?? 0,
  });
  const snapshots = everySnapshot(
    config.snapshot_every,
    async () => {
      const { changed } = await line.snapshot(await note());
      if (changed) await line.push();
    },
    log,
  );
  let outcome: HarnessOutcome;
  try {
    outcome = await drive(
      staffed.harness,
      {
        shift: id,
        checkout: join(config.data, 'checkout'),
        sessions,
        records,
        scratch,
        order,
        ...(facts.session ? { resume: facts.session } : {}),
        ...(facts.findings === undefined ? {} : { findings: facts.findings }),
        model: {
          provider: staffed.upstream.provider,
          model: staffed.upstream.model,
          baseUrl: relay.baseUrl,
          token: relay.token,
          vision: config.vision,
          context: config.context,
        },
        limits: { timeMs, graceMs: config.agent_grace, iterations: config.iterations },
        sandbox: staffed.sandbox,
        env: passed(config.agent.pass),
        agentLog: join(folder, 'agent.log'),
        data: config.data,
        agentUser: config.agent.user,
      },
      { signal, onActivity, secrets: config.secrets.map(({ value }) => value) },
    );
  } finally {
    await snapshots.stop();
    await rm(scratch, { recursive: true, force: true });
  }

  const snapshot = await line.snapshot(await note());
  const pushed = await line.push().then(
    () => null,
    (error: unknown) => error,
  );
  if (pushed instanceof FactoryError && pushed.code === 'line/secret') throw pushed;
  if (pushed) log.warn({ err: pushed }, 'the work could not be pushed; it stays in line.git');

  const usage = relay.usage();
  const before = context.record.usage;
  const total = {
    requests: before.requests + usage.requests,
    inputTokens: before.inputTokens + usage.inputTokens,
    outputTokens: before.outputTokens + usage.outputTokens,
    dollars: usage.dollars === null && before.dollars === null ? null : (before.dollars ?? 0) + (usage.dollars ?? 0),
  };
  const providerFailure = relay.lastFailure();
  const session = outcome.session;
  const chainFolder = session ? await nameChainFolder(sessions, session) : sessions;
  const chain = session ? await chainOf(chainFolder, session) : context.record.chain.slice();
  return {
    ...verdictOf(outcome, timeMs, relay.cap()),
    facts: {
      outcome,
      work: snapshot.commit,
      sessions: chainFolder,
      session: session ?? facts.session ?? null,
      workedMs: (facts.workedMs ?? 0) + outcome.durationMs,
    },
    record: {
      session: session ?? context.record.session,
      chain,
      outcome: outcome.result?.reason ?? (session ? '' : context.record.outcome),
      usage: total,
      ...(providerFailure ? { providerFailure } : {}),
    },
  };
}

/** The station's word on how the run ended: the log's reason, never the exit code. */
function verdictOf(
  { session, result, cut, exitCode, signal }: HarnessOutcome,
  timeMs: number,
  cap: string | null,
): StationResult {
  const failed = (code: string, message: string, mend: string): StationResult => ({
    status: 'failed',
    summary: message,
    error: { code, message, mend },
  });
  if (result?.reason === 'settled') return { summary: `settled after ${result.iterations} turns` };
  if (session === null)
    return failed(
      'harness/no-session',
      `the harness wrote no session log (it ended with ${signal ?? `exit code ${exitCode}`})`,
      'Read agent.log of this shift: what the harness said is there.',
    );
  if (cut === 'time')
    return failed(
      'agent/time',
      `the agent was stopped at its time limit (${told(timeMs)})`,
      'Nothing to do: the next shift continues its work. Raise time_limit if this is common.',
    );
  if (cut === 'stop')
    return failed('agent/stopped', 'the shift was stopped', 'Nothing to do: the next shift continues its work.');
  if (cap !== null)
    return failed(
      'agent/cap',
      `the shift reached its cap of ${cap}`,
      'The next shift continues its work. Raise `tokens` or `cost` in factory.yaml if this is common.',
    );
  const reason = result?.reason ?? 'killed';
  const detail = result?.error ?? result?.message ?? '';
  if (/\bENOSPC\b/.test(detail)) {
    return failed(
      'data/full',
      `the disk is full: ${detail}`,
      'Free some disk space; the work so far is kept, and the next shift continues it.',
    );
  }
  if (reason === 'error')
    return failed(
      'agent/provider',
      `the provider failed: ${detail}`,
      'Check the key, the model and the provider; providerFailure in shift.json holds the last exchange.',
    );
  return failed(
    `agent/${reason}`,
    `the agent ended with "${reason}"${detail ? `: ${detail}` : ''}`,
    'Read the conversation (`machinery logs`); the next shift continues the work if it can.',
  );
}

function passed(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an earlier station did not run');
  return value;
}

const mustLine = (facts: Context['facts']) => must(facts.line);
