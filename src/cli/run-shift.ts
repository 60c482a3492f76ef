import type { Logger } from 'pino';
import { type Config, loadConfig } from '../config/load.ts';
import { factoryRuns } from '../factory/control-client.ts';
import { resolveUpstream } from '../harness/providers.ts';
import { finishInterrupted } from '../shift/finish.ts';
import type { ShiftRecord } from '../shift/record.ts';
import { workShift } from '../shift/shift.ts';
import { FactoryError, asFactoryError } from '../support/errors.ts';
import { lock } from '../support/lock.ts';
import { liveView } from './live.ts';
import { printError } from './print.ts';
import { TEMPORARY, askForShift, exitOf, tellEnd } from './follow-shift.ts';

/** What the command line may say of a shift. */
export interface ShiftFlags {
  provider?: string;
  model?: string;
  harness?: string;
  json?: boolean;
  /** Whether to wait for a shift that runs. */
  wait: boolean;
}

const SIGNAL_EXITS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Works one shift under the data folder's lock. @returns the exit code that `machinery shift --help` documents. */
export async function runShift(options: ShiftFlags): Promise<number> {
  const { provider, model, harness } = options;
  const config = await loadConfig({ flags: { provider, model, harness } });
  refuseWrongProvider(config);
  if (await factoryRuns(config.data)) return askForShift(config, options);

  const stop = new AbortController();
  let signalled: keyof typeof SIGNAL_EXITS | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    // A second signal is immediate.
    if (signalled) process.exit(SIGNAL_EXITS[signal as keyof typeof SIGNAL_EXITS]);
    signalled = signal as keyof typeof SIGNAL_EXITS;
    if (!options.json)
      process.stderr.write('stopping: the agent is asked to end, its work is kept (again to quit at once)\n');
    stop.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);

  const held = await takeLock(config.data, options.wait, stop.signal, options.json === true);
  if (held === null) return signalled ? SIGNAL_EXITS[signalled] : TEMPORARY;
  const view = options.json ? null : liveView(process.stdout);
  try {
    await finishInterrupted(config);
    const record = await workShift({ config, signal: stop.signal, watcher: view ?? {} });
    view?.close();
    if (options.json) process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
    else tellEnd(record);
    if (!signalled) await afterwards(config, record);
    if (signalled && record.verdict !== 'green') return SIGNAL_EXITS[signalled];
    return exitOf(record);
  } finally {
    view?.close();
    await held.release();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

/** Webhooks may be tried again for so long before the command ends. */
const NOTIFY_MS = 30_000;

/** What a running factory does after each shift: tells the webhooks, and tidies up. Neither changes how the shift ended. */
async function afterwards(config: Config, record: ShiftRecord): Promise<void> {
  const { createNotifier } = await import('../factory/notify.ts');
  const { tidy } = await import('../factory/housekeeping.ts');
  const warn = (facts: object, told?: string) => process.stderr.write(`warning: ${told} (${JSON.stringify(facts)})\n`);
  const log = { info: () => {}, warn } as unknown as Pick<Logger, 'info' | 'warn'>;
  const notifier = createNotifier(config, log);
  notifier.observe({ type: 'end', at: new Date().toISOString(), shift: record.id, record });
  await tidy(config, log).catch((error: unknown) =>
    warn({ why: asFactoryError(error).message }, 'housekeeping failed'),
  );
  await notifier.close(NOTIFY_MS);
}

/** A provider that is wrongly configured is told before anything starts; one that only lacks its key makes an idle shift. */
function refuseWrongProvider(config: Config): void {
  try {
    resolveUpstream(config);
  } catch (error) {
    if (!(error instanceof FactoryError) || error.code !== 'provider/key-missing') throw error;
  }
}

async function takeLock(data: string, wait: boolean, signal: AbortSignal, quiet: boolean) {
  try {
    return await lock(data);
  } catch (error) {
    if (!(error instanceof FactoryError) || error.code !== 'lock/held') throw error;
    if (!wait) {
      printError(error);
      return null;
    }
    if (!quiet) process.stderr.write(`waiting: ${error.message}\n`);
    return lock(data, { wait: true, signal }).catch((again: unknown) => {
      if (signal.aborted) return null;
      throw again;
    });
  }
}
