import { chooseHarness } from '../../harness/index.ts';
import { zot } from '../../harness/zot.ts';
import { asFactoryError } from '../../support/errors.ts';
import { type Examiner, ok } from '../examination.ts';

/** Which harness a shift would take, its version, and what is known of the other one. */
export const harness: Examiner = {
  name: 'harness',
  async look({ config }) {
    const { harness: chosen, why } = await chooseHarness(config.harness, config.data);
    const version = await chosen.version();
    const other = chosen.name === 'zot' ? '' : `; ${await zotHere()}`;
    return ok(`${chosen.name} ${version} (${why})${other}`);
  },
};

async function zotHere(): Promise<string> {
  return zot()
    .version()
    .then(
      (version) => `zot ${version} is here too`,
      (error: unknown) => `no usable zot: ${asFactoryError(error).message}`,
    );
}
