import { secretOf } from '../../config/load.ts';
import { tryOrigin } from '../../line/try-origin.ts';
import { type Examiner, ok } from '../examination.ts';

/** Much shorter than in a shift: somebody waits for the answer. */
const SILENCE_MS = 30_000;

/** The origin: main can be read, and a trial push is taken. */
export const origin: Examiner = {
  name: 'origin',
  async look({ config }) {
    const token = secretOf(config, 'MACHINERY_GIT_TOKEN');
    const { address, tip } = await tryOrigin({
      origin: config.origin,
      branch: config.branch,
      silenceMs: SILENCE_MS,
      ...(token === undefined ? {} : { token }),
    });
    return ok(
      `${address} has ${config.branch} at ${tip.slice(0, 12)}, and a trial push was taken (what a hook or a protected branch refuses shows only at a real one)`,
    );
  },
};
