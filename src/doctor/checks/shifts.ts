import { listShifts, readRecord } from '../../shift/record.ts';
import { isHeld } from '../../support/lock.ts';
import { type Examiner, ok, warning } from '../examination.ts';

/** How far back is looked. */
const RECENT = 20;

/** How the last shifts ended, and whether one was left in the middle. */
export const shifts: Examiner = {
  name: 'shifts',
  async look({ config: { data } }) {
    const ids = (await listShifts(data)).slice(-RECENT);
    const records = (await Promise.all(ids.map((id) => readRecord(data, id)))).filter((record) => record !== null);
    const last = records.at(-1);
    if (!last) return ok('none yet');
    const open = records.find(({ verdict }) => verdict === null);
    if (open && !(await isHeld(data))) {
      return warning(
        `${open.id} was left in the middle: its process died`,
        'Nothing to do: the next start or shift finishes it.',
      );
    }
    const ended = records.filter(({ verdict }) => verdict !== null && verdict !== 'idle');
    const reds = ended.length - 1 - ended.findLastIndex(({ verdict }) => verdict !== 'red');
    const seen = `the last one, ${last.id}, ${last.verdict === null ? 'runs' : `was ${last.verdict}: ${last.reason}`}`;
    if (reds >= 3) return warning(`${reds} red in a row; ${seen}`, 'machinery logs last');
    return ok(seen);
  },
};
