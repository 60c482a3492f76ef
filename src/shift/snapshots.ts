import type { Logger } from 'pino';

/**
 * Takes a snapshot at an interval until stopped. One that fails (an origin out of reach) is logged and tried again next time.
 * `stop` waits for one in flight.
 */
export function everySnapshot(everyMs: number, take: () => Promise<void>, log: Logger): { stop: () => Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = take()
      .then(
        () => log.info('the work was snapshotted'),
        (error: unknown) => log.warn({ err: error }, 'a snapshot failed'),
      )
      .finally(() => {
        busy = false;
      });
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      return running;
    },
  };
}
