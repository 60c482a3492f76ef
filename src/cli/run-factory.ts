import type { Logger } from 'pino';
import { type Config, loadConfig, secretOf } from '../config/load.ts';
import { consoleToken } from '../console/token.ts';
import { serveControl } from '../factory/control.ts';
import { Factory } from '../factory/factory.ts';
import type { Metrics } from '../factory/metrics.ts';
import { factoryLog } from './log.ts';

/** Runs the factory until a signal. @returns the exit code that `machinery start --help` documents. */
export async function runFactory(): Promise<number> {
  // The control room's token is made at the first start; read after that, it is a secret like any other.
  await consoleToken(await loadConfig());
  const config = await loadConfig();
  const log = await factoryLog(config.secrets);
  const { tidy } = await import('../factory/housekeeping.ts');
  const factory = new Factory({ config, log, between: async () => void (await tidy(config, log)) });
  const stopped = stopSignal(config.stop_grace, (signal) => log.warn({ signal }, 'stopping'));
  await factory.start();
  const closers = [await serveControl(config.data, factory, log)];
  try {
    closers.push(...(await watch(config, factory, log)));
    const { nextTick, paused } = factory.status();
    log.info({ nextTick, paused }, 'ready');
    resumeOutbox(config, log).catch((error: unknown) => log.warn({ err: error }, 'the outbox could not be resumed'));
    await stopped;
  } finally {
    await factory.stop();
    for (const { close } of closers.reverse()) await close();
  }
  log.info('stopped');
  return 0;
}

/** Sends the rows that a factory before this one could not, without waiting for a shift. Those that make trouble wait for one. */
async function resumeOutbox(config: Config, log: Logger): Promise<void> {
  const { repo, endpoint, private: hidden } = config.dataset.hub;
  const token = secretOf(config, 'HF_TOKEN');
  if (repo === undefined || token === undefined) return;
  const { ship } = await import('../dataset/ship.ts');
  await ship({
    data: config.data,
    repo,
    token,
    ...(endpoint ? { endpoint } : {}),
    private: hidden,
    normalised: config.dataset.normalised,
    secrets: config.secrets.map(({ value }) => value),
    log,
  });
}

/** The control room, the metrics and the webhooks: those who follow the factory. */
async function watch(config: Config, factory: Factory, log: Logger): Promise<{ close: () => Promise<void> }[]> {
  const [{ startConsole }, { healthApp }, { createNotifier }] = await Promise.all([
    import('../console/server.ts'),
    import('../console/health.ts'),
    import('../factory/notify.ts'),
  ]);
  // Loaded with the first event or the first scrape, not before the factory is ready.
  let made: Promise<Metrics> | null = null;
  const metrics = () => {
    made ??= import('../factory/metrics.ts').then(({ createMetrics }) => createMetrics(config, () => factory.status()));
    return made;
  };
  const notifier = createNotifier(config, log);
  factory.listen((event) => {
    if (event.type === 'station' || event.type === 'end') void metrics().then((counted) => counted.observe(event));
    notifier.observe(event);
  });
  const room = await startConsole({
    config,
    factory,
    mount: healthApp(factory, metrics),
    examine: async () => (await import('../doctor/doctor.ts')).examine(config),
  });
  log.info({ url: room.url }, `the control room is at ${room.url}`);
  return [{ close: () => notifier.close() }, room];
}

/** Resolves at the first SIGTERM or SIGINT. The second one, or the grace running out, ends the process at once. */
function stopSignal(graceMs: number, tell: (signal: string) => void): Promise<void> {
  return new Promise((resolve) => {
    let first = true;
    const onSignal = (signal: NodeJS.Signals) => {
      if (!first) process.exit(signal === 'SIGINT' ? 130 : 143);
      first = false;
      tell(signal);
      setTimeout(() => process.exit(1), graceMs).unref();
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
