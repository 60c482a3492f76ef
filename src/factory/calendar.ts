import { createTask, parse, validateDetailed } from 'node-cron';
import { FactoryError } from '../support/errors.ts';

/**
 * The schedule's calendar: which minutes are ticks. node-cron parses and matches the expression; the walk over the
 * minutes is ours, because node-cron's own look-ahead passes over the hour that clocks repeat in autumn and drops a
 * daily tick that falls into the hour they skip in spring.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Clocks change at quarter hours everywhere, so an offset holds for a quarter. */
const QUARTER = 15 * MINUTE;
/** Beyond the rarest real expression (29 February): past this an expression never comes. */
const FARTHEST = 8 * 366 * 24 * 60 * MINUTE;

export interface Calendar {
  /** The first tick after a moment; null when there is none within eight years. */
  after(from: Date): Date | null;
}

/** Milliseconds that local time is ahead of UTC, remembered by the quarter hour. */
function offsets(timezone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const known = new Map<number, number>();
  return (at) => {
    const quarter = Math.floor(at / QUARTER);
    const remembered = known.get(quarter);
    if (remembered !== undefined) return remembered;
    const parts = Object.fromEntries(
      format.formatToParts(quarter * QUARTER).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const offset = Date.UTC(year, month - 1, day, hour, minute, second) - quarter * QUARTER;
    if (known.size > 1000) known.clear();
    known.set(quarter, offset);
    return offset;
  };
}

/**
 * Reads a five-field cron expression in a time zone.
 * @throws FactoryError `config/invalid` for an expression or a zone that is not one.
 */
export function calendar(expression: string, timezone: string): Calendar {
  const { valid, errors } = validateDetailed(expression);
  if (!valid || expression.trim().split(/\s+/).length !== 5) {
    const why =
      errors.map(({ message }) => message).join('; ') || 'expected 5 fields: minute, hour, day, month, weekday';
    throw wrong(
      'schedule',
      `schedule "${expression}" is not a cron expression: ${why}`,
      'Write it as five fields, such as */30 * * * *.',
    );
  }
  const offsetAt = zone(timezone);
  // Local minutes are matched as if they were UTC, so that node-cron does no time-zone arithmetic of its own.
  const task = createTask(expression, () => {}, { timezone: 'UTC' });
  const { minute, hour, month } = parse(expression) as Record<'minute' | 'hour' | 'month', number[]>;
  const [minutes, hours, months] = [new Set(minute), new Set(hour), new Set(month)];
  const matches = (local: number) => minutes.has(Math.floor(local / MINUTE) % 60) && task.match(new Date(local));
  const everyHour = hours.size === 24;

  /** How far the walk may go on at once: to the end of a local hour that has no tick, unless clocks change near it. */
  const stride = (at: number): number => {
    const local = new Date(at + offsetAt(at));
    const bare = !hours.has(local.getUTCHours()) || !months.has(local.getUTCMonth() + 1);
    const steady = offsetAt(at - HOUR) === offsetAt(at) && offsetAt(at + HOUR) === offsetAt(at);
    return bare && steady ? (60 - local.getUTCMinutes()) * MINUTE : MINUTE;
  };

  const isTick = (at: number): boolean => {
    const [now, before] = [offsetAt(at), offsetAt(at - MINUTE)];
    const local = at + now;
    // Clocks went forward: the local minutes that never were count now, once.
    for (let skipped = at + before; skipped < local; skipped += MINUTE) if (matches(skipped)) return true;
    if (!matches(local)) return false;
    // Clocks went back: a tick at a fixed hour has had its turn in the first of the two hours.
    const repeated = offsetAt(at - 3 * HOUR) > now && at + now < lastLocal(at, now);
    return everyHour || !repeated;
  };
  /** The latest local time that was shown in the three hours before. */
  const lastLocal = (at: number, now: number) => {
    for (let back = QUARTER; back <= 3 * HOUR; back += QUARTER) {
      const then = at - back;
      if (offsetAt(then) > now) return then + offsetAt(then) + MINUTE;
    }
    return Number.NEGATIVE_INFINITY;
  };
  return {
    after(from) {
      const start = (Math.floor(from.getTime() / MINUTE) + 1) * MINUTE;
      for (let at = start; at < start + FARTHEST; at += stride(at)) if (isTick(at)) return new Date(at);
      return null;
    },
  };
}

function zone(timezone: string): (at: number) => number {
  try {
    return offsets(timezone);
  } catch {
    throw wrong(
      'timezone',
      `timezone "${timezone}" is not known here`,
      'Use an IANA name such as UTC or Europe/Vienna.',
    );
  }
}

const wrong = (key: string, message: string, mend: string) =>
  new FactoryError('config/invalid', { message, mend, data: { key } });

/** The next ticks of a schedule. @throws FactoryError `config/invalid`. */
export function nextTimes(expression: string, timezone: string, from: Date, count: number): Date[] {
  const ticks = calendar(expression, timezone);
  const times: Date[] = [];
  for (let at: Date | null = from; times.length < count; ) {
    at = ticks.after(at);
    if (at === null) break;
    times.push(at);
  }
  return times;
}
