import { nextTimes } from '../../factory/calendar.ts';
import { type Examiner, broken, ok } from '../examination.ts';

const TIMES = 5;

/** When the next shifts start, in the schedule's own zone. */
export const schedule: Examiner = {
  name: 'schedule',
  async look({ config: { schedule: expression, timezone }, now }) {
    const times = nextTimes(expression, timezone, now, TIMES);
    if (times.length === 0)
      return broken(`${expression} names no time that ever comes`, 'Correct schedule in factory.yaml.');
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
    return ok(`${expression} in ${timezone}; next: ${times.map((time) => format.format(time)).join(', ')}`);
  },
};
