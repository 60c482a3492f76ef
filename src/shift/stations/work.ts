import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../../config/load.ts';
import { drive } from '../../harness/driver.ts';
import { type Relay, startRelay } from '../../harness/relay.ts';
import type { Caps } from '../../harness/relay/ledger.ts';
import type { HarnessOutcome } from '../../harness/types.ts';
import { startRehearsal } from '../../rehearsal/server.ts';
import { chainOf } from '../../session/chain.ts';
import { newestSession } from '../../session/read.ts';
import type { Line, SnapshotNote } from '../../line/line.ts';
import { FactoryError, asFactoryError } from '../../support/errors.ts';
import { runVerdict } from '../run-verdict.ts';
import { nameChainFolder } from '../sessions.ts';
import { capsLeft } from '../spending.ts';
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

async function openRelay({ facts, config, record, log }: Context, closers: (() => Promise<void>)[]): Promise<Relay> {
  const { upstream } = must(facts.staff);
  let baseUrl = upstream.baseUrl;
  if (upstream.provider === 'rehearsal') {
    const rehearsal = await startRehearsal();
    closers.push(() => rehearsal.close());
    baseUrl = rehearsal.baseUrl;
  }
  const relay = await startRelay({
    upstream: { ...upstream, baseUrl },
    caps: capsLeft(config, record.usage),
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
        limits: {
          timeMs,
          graceMs: config.agent_grace,
          iterations: config.iterations,
          ...told(capsLeft(config, context.record.usage)),
          disk: { used: config.disk_limit, free: config.disk_floor / 2 },
        },
        sandbox: staffed.sandbox,
        env: { ...passed(config.agent.pass), ...wordsFor(config.catalogue) },
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

  const taken = await takeWork(line, await note(), log);

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
  const verdict = runVerdict(outcome, timeMs, relay.cap());
  const workedMs = (facts.workedMs ?? 0) + outcome.durationMs;
  const trouble = outcome.cut === 'disk' ? null : taken.trouble;
  return {
    ...verdict,
    ...(trouble ? troubled(context, trouble, verdict, workedMs) : {}),
    facts: {
      outcome,
      work: taken.work,
      sessions: chainFolder,
      session: session ?? facts.session ?? null,
      workedMs,
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

/** Caps as a harness is told of them; one that is used up is left to the relay, which answers nothing any more. */
function told(caps: Caps): Caps {
  return Object.fromEntries(Object.entries(caps).filter(([, left]) => left > 0));
}

/**
 * Snapshots and pushes what the agent left. Work that no snapshot can hold, or that holds a known secret, is not judged:
 * the run itself still counts, with its session and its cost.
 */
async function takeWork(
  line: Line,
  note: SnapshotNote,
  log: Context['log'],
): Promise<{ work?: string; trouble: FactoryError | null }> {
  try {
    const { commit } = await line.snapshot(note);
    const pushed = await line.push().then(
      () => null,
      (error: unknown) => error,
    );
    if (pushed instanceof FactoryError && pushed.code === 'line/secret') return { trouble: pushed };
    if (pushed) log.warn({ err: pushed }, 'the work could not be pushed; it stays in line.git');
    return { work: commit, trouble: null };
  } catch (error) {
    log.error({ err: error }, 'the work could not be snapshotted');
    return { trouble: asFactoryError(error) };
  }
}

/** The station's result when the work could not be taken; an agent that settled can still make the checkout smaller. */
function troubled(
  { config, attempt, signal }: Context,
  { code, message, mend }: FactoryError,
  verdict: StationResult,
  workedMs: number,
): Pick<StationResult, 'status' | 'summary' | 'error' | 'again'> {
  const mendable = code === 'line/too-large' && verdict.status !== 'failed' && !signal.aborted;
  const again = mendable && attempt <= config.rework && workedMs < config.time_limit;
  // Why the run itself failed comes first, but for a secret that must be replaced.
  const first = verdict.status === 'failed' && code !== 'line/secret' ? verdict : null;
  return {
    status: 'failed',
    summary: first ? `${first.summary}; ${message}` : message,
    error: first?.error ?? { code, message, mend },
    ...(again ? { again: `- the work could not be taken: ${message}. ${mend}` } : {}),
  };
}

function passed(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** The words of the shelf, for the gates that the agent runs itself: they may be set elsewhere than in the checkout's file. */
function wordsFor({ domains, eras }: Config['catalogue']): Record<string, string> {
  return { MACHINERY_CATALOGUE_DOMAINS: domains.join(','), MACHINERY_CATALOGUE_ERAS: eras.join(',') };
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an earlier station did not run');
  return value;
}

const mustLine = (facts: Context['facts']) => must(facts.line);
