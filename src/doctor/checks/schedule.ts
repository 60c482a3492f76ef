import { nextTimes } from '../../factory/calendar.ts';
import { readPause } from '../../factory/pause.ts';
import { type Examiner, broken, ok, warning } from '../examination.ts';

const TIMES = 5;

/** When the next shifts start, in the schedule's own zone. */
export const schedule: Examiner = {
  name: 'schedule',
  async look({ config: { schedule: expression, timezone, data }, now }) {
    const times = nextTimes(expression, timezone, now, TIMES);
    if (times.length === 0)
      return broken(`${expression} names no time that ever comes`, 'Correct schedule in factory.yaml.');
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
    const paused = await readPause(data);
    if (paused)
      return warning(
        `${expression} in ${timezone}, but paused since ${paused.since || 'some time'} by ${paused.by}: no shift starts by itself`,
        'Resume it when you are done: machinery resume.',
      );
    return ok(`${expression} in ${timezone}; next: ${times.map((time) => format.format(time)).join(', ')}`);
  },
};
