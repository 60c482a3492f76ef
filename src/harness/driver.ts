import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { FactoryError } from '../support/errors.ts';
import { signalGroup, start } from '../support/process.ts';
import { redactor } from '../support/redact.ts';
import { activityOf } from './activity.ts';
import { writable } from './confine/confinement.ts';
import { type Confinement, confinementOf } from './confine/index.ts';
import { NOT_STARTED, measured, watchDisk, withFileLimit } from './disk.ts';
import { agentEnvironment, homeOf } from './environment.ts';
import { keepOutput } from './output.ts';
import { ownFolder } from './own-folder.ts';
import { findProgram } from './program.ts';
import { SessionTail } from './tail.ts';
import type { Activity, Harness, HarnessOutcome, HarnessRun } from './types.ts';

/** Who watches a run: `signal` stops it, `onActivity` hears what the agent does, `secrets` are kept out of what is said. */
export interface Watch {
  signal: AbortSignal;
  onActivity?: (activity: Activity) => void;
  secrets?: string[];
}

type Ended = Pick<HarnessOutcome, 'exitCode' | 'signal' | 'cut' | 'over'>;

/** The most that an agent which fills the disk is given to end by itself, in milliseconds: it goes on filling meanwhile. */
const FULL_GRACE = 2000;

/** Starts the process and waits until it ended, by itself or because time is up or it was told to stop. */
async function work(run: HarnessRun, watch: Watch, confinement: Confinement, line: Line): Promise<Ended> {
  const { disk } = run.limits;
  const before = disk ? await measured(writable(run)) : [];
  const child = start(line.file, line.args, { cwd: run.checkout, env: line.env });
  const { pid } = child;
  if (pid === undefined) {
    const { shortMessage } = (await child) as unknown as { shortMessage?: string };
    throw cannotStart(line.file, shortMessage ?? 'it did not start');
  }
  const finishOutput = keepOutput([child.stdout, child.stderr] as unknown as Readable[], run.agentLog, line.secrets);
  let cut: HarnessOutcome['cut'] = null;
  let grace: NodeJS.Timeout | undefined;
  let over: string | undefined;
  const stop = (why: 'time' | 'stop' | 'disk') => {
    if (cut !== null) return;
    cut = why;
    confinement.ask(pid);
    const { graceMs } = run.limits;
    grace = setTimeout(() => signalGroup(pid, 'SIGKILL'), why === 'disk' ? Math.min(graceMs, FULL_GRACE) : graceMs);
  };
  const onAbort = () => stop('stop');
  const limit = setTimeout(() => stop('time'), run.limits.timeMs);
  const unwatch = disk
    ? watchDisk(before, disk, (why) => {
        over = why;
        stop('disk');
      })
    : () => {};
  watch.signal.addEventListener('abort', onAbort, { once: true });
  try {
    // `exit` and not `close`: a grandchild that holds the output open would put `close` off for ever.
    const ended = await new Promise<[number | null, NodeJS.Signals | null]>((done) => {
      child.once('exit', (code, signal) => done([code, signal]));
      if (watch.signal.aborted) onAbort();
    });
    return { exitCode: ended[0], signal: ended[1], cut, ...(cut === 'disk' && over !== undefined ? { over } : {}) };
  } finally {
    clearTimeout(limit);
    unwatch();
    clearTimeout(grace);
    watch.signal.removeEventListener('abort', onAbort);
    signalGroup(pid, 'SIGKILL');
    await confinement.sweep(run).finally(finishOutput);
  }
}

interface Line {
  file: string;
  args: string[];
  env: Record<string, string>;
  secrets: string[];
}

function cannotStart(file: string, why: string): FactoryError {
  return new FactoryError('harness/cannot-start', {
    message: `the harness could not be started: ${why}`,
    mend: `See that ${file} is there and may be run; \`machinery doctor\` checks it.`,
    data: { file },
  });
}

/**
 * Runs a harness once: starts it confined, in a process group of its own, with a bare environment; drains its output
 * into `run.agentLog`; follows its log; stops it at its time limit, when it fills the disk or when `watch.signal` fires
 * (SIGTERM, a grace, then SIGKILL to its group); and ends every process that it left. What it made of its work is in the log's result: a run
 * that wrote no log has session null, whatever its exit code.
 * @throws FactoryError `harness/cannot-start`, or `harness/leftovers` when a process of the run cannot be ended.
 */
export async function drive(harness: Harness, run: HarnessRun, watch: Watch): Promise<HarnessOutcome> {
  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  if (watch.signal.aborted) {
    return { session: null, result: null, exitCode: null, signal: null, cut: 'stop', durationMs: took() };
  }
  for (const folder of [run.sessions, run.records, run.scratch, homeOf(run), join(run.scratch, 'tmp')]) {
    await ownFolder(folder);
  }
  const secrets = [...(watch.secrets ?? []), run.model.token];
  const confinement = confinementOf(run.sandbox);
  const command = await harness.command(run);
  const file = await findProgram(command.file);
  await confinement.prepare(run);
  const clean = redactor(secrets);
  const tail = await SessionTail.open(run.sessions, {
    line: (line) => {
      const activity = watch.onActivity && activityOf(line);
      if (activity) watch.onActivity?.({ ...activity, text: clean(activity.text) });
    },
    unlock: () => confinement.reclaim(run, [run.sessions]),
  });
  try {
    const wrapped = withFileLimit(await confinement.wrap({ file, args: command.args }, run), run.limits.disk);
    const env = agentEnvironment(run, command, watch.secrets ?? []);
    const ended = await work(run, watch, confinement, { ...wrapped, env, secrets });
    await confinement.release(run);
    const log = await tail.finish();
    if (run.limits.disk && log.session === null && NOT_STARTED.includes(ended.exitCode)) {
      throw cannotStart(file, `the system refused it (${ended.exitCode}); agent.log has its words`);
    }
    return { ...log, ...ended, durationMs: took() };
  } finally {
    await tail.stop();
  }
}
