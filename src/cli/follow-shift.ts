import type { Config } from '../config/load.ts';
import { askFactory, followShift } from '../factory/control-client.ts';
import { type ShiftRecord, failureOf } from '../shift/record.ts';
import { FactoryError } from '../support/errors.ts';
import { liveView } from './live.ts';
import { styled } from './print.ts';
import type { ShiftFlags } from './run-shift.ts';

/** EX_TEMPFAIL of sysexits.h: try again later. */
export const TEMPORARY = 75;

/** The exit code of a shift that ended. */
export const exitOf = ({ verdict }: ShiftRecord) => (verdict === 'green' || verdict === 'idle' ? 0 : 1);

/** Asks the factory that runs on this data folder for a shift and follows it. @returns the exit code. */
export async function askForShift({ data }: Config, flags: ShiftFlags): Promise<number> {
  const given = (['provider', 'model', 'harness'] as const).filter((name) => flags[name] !== undefined);
  if (given.length > 0) {
    throw new FactoryError('usage/invalid', {
      message: `a factory runs on ${data} and works with its own configuration; --${given.join(', --')} cannot be given to it`,
      mend: 'Leave the options out, or change factory.yaml and start the factory anew.',
    });
  }
  const say = (text: string) => void (flags.json || process.stderr.write(`${text}\n`));
  if (!flags.wait && (await askFactory(data, 'GET', '/status')).current) {
    say('another shift is running in the factory (leave out --no-wait to wait for it)');
    return TEMPORARY;
  }
  const view = flags.json ? null : liveView(process.stdout);
  // The shift is the factory's: leaving here does not stop it.
  const leave = () => {
    view?.close();
    say('the shift goes on in the factory; `machinery status` tells how it does');
    process.exit(130);
  };
  process.once('SIGINT', leave);
  try {
    for await (const line of followShift(data)) {
      if (line.type === 'asked' && line.outcome !== 'started') say('a shift is running; this one waits for it to end');
      if (line.type === 'station') view?.station?.(line.record, line.station);
      if (line.type === 'activity') view?.activity?.(line.activity);
      if (line.type === 'error') throw new FactoryError('factory/stopping', line);
      if (line.type !== 'end') continue;
      view?.close();
      if (flags.json) process.stdout.write(`${JSON.stringify(line.record, null, 2)}\n`);
      else tellEnd(line.record);
      return exitOf(line.record);
    }
    throw new FactoryError('factory/unreachable', {
      message: 'the factory ended before the shift did',
      mend: 'Start it again: it finishes what was left. `machinery shifts` tells how the shift ended.',
    });
  } finally {
    view?.close();
    process.off('SIGINT', leave);
  }
}

/** Says on the terminal how a shift ended, and what to do about a red one. */
export function tellEnd(record: ShiftRecord): void {
  const colour = { green: 'green', red: 'red', idle: 'yellow', interrupted: 'yellow' } as const;
  const verdict = record.verdict ?? 'red';
  process.stdout.write(`\n${styled([colour[verdict], 'bold'], verdict)}  ${record.reason}\n`);
  const failed = failureOf(record);
  if (verdict !== 'red' || !failed?.error) return;
  process.stdout.write(`mend: ${failed.error.mend}\nlog:  machinery logs ${record.id}\n`);
}
