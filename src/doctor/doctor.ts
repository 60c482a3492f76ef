import type { Config } from '../config/load.ts';
import { asFactoryError } from '../support/errors.ts';
import { redactor } from '../support/redact.ts';
import { browser } from './checks/browser.ts';
import { catalogue } from './checks/catalogue.ts';
import { clock } from './checks/clock.ts';
import { data } from './checks/data.ts';
import { harness } from './checks/harness.ts';
import { hub } from './checks/hub.ts';
import { model } from './checks/model.ts';
import { order } from './checks/order.ts';
import { origin } from './checks/origin.ts';
import { git, node } from './checks/programs.ts';
import { sandbox } from './checks/sandbox.ts';
import { schedule } from './checks/schedule.ts';
import { shifts } from './checks/shifts.ts';
import { secrets } from './checks/secrets.ts';
import type { Examination, Examiner, Surroundings } from './examination.ts';

export type { Examination } from './examination.ts';

/** Everything that is looked at, in the order it is told. A new look is a file and a line here. */
const EXAMINERS: readonly Examiner[] = [
  node,
  git,
  browser,
  data,
  sandbox,
  harness,
  model,
  secrets,
  order,
  origin,
  catalogue,
  schedule,
  shifts,
  hub,
  clock,
];

/** No look takes longer: what did not answer by then is broken. */
const LIMIT_MS = 90_000;

/**
 * Looks at everything a shift needs, changing nothing: safe beside a running factory. Never throws.
 * @param live also makes one tiny call to the model's provider.
 */
export async function examine(config: Config, { live = false }: { live?: boolean } = {}): Promise<Examination[]> {
  const redact = redactor(config.secrets.map(({ value }) => value));
  const at: Surroundings = { config, live, now: new Date() };
  const found = await Promise.all(EXAMINERS.map((examiner) => examineOne(examiner, at)));
  return found.map(({ told, mend, ...rest }) => ({
    ...rest,
    told: redact(told),
    ...(mend === undefined ? {} : { mend: redact(mend) }),
  }));
}

async function examineOne({ name, look }: Examiner, at: Surroundings): Promise<Examination> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Omit<Examination, 'name'>>((done) => {
    const told = `no answer within ${LIMIT_MS / 1000} s`;
    const mend = 'Run it again; if it stays so, look at what this check talks to.';
    timer = setTimeout(() => done({ state: 'broken', told, mend }), LIMIT_MS);
  });
  try {
    return { name, ...(await Promise.race([look(at), late])) };
  } catch (thrown) {
    const { message, mend } = asFactoryError(thrown);
    return { name, state: 'broken', told: message.split('\n')[0] ?? message, mend };
  } finally {
    clearTimeout(timer);
  }
}
