import { loadConfig } from '../config/load.ts';
import { serveControl } from '../factory/control.ts';
import { Factory } from '../factory/factory.ts';
import { factoryLog } from './log.ts';

/** Runs the factory until a signal. @returns the exit code that `machinery start --help` documents. */
export async function runFactory(): Promise<number> {
  const config = await loadConfig();
  const log = factoryLog(config.secrets);
  const factory = new Factory({ config, log });
  const stopped = stopSignal(config.stop_grace, (signal) => log.warn({ signal }, 'stopping'));
  await factory.start();
  const control = await serveControl(config.data, factory, log);
  const { nextTick, paused } = factory.status();
  log.info({ nextTick, paused }, 'ready');

  await stopped;
  await factory.stop();
  await control.close();
  log.info('stopped');
  return 0;
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
