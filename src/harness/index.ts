import { join } from 'node:path';
import { asFactoryError } from '../support/errors.ts';
import { builtin } from './builtin/harness.ts';
import { cachedSelfTest } from './self-test.ts';
import type { Harness } from './types.ts';
import { zot } from './zot.ts';

/** Every harness by name. A new one is a file and a line here. */
const HARNESSES: Record<Harness['name'], () => Harness> = { builtin: () => builtin, zot: () => zot() };

export interface HarnessChoice {
  harness: Harness;
  /** One sentence for the record and for `doctor`. */
  why: string;
}

/**
 * Chooses the harness. `auto` takes zot only where a zot is there, has the options that are needed, and was seen to pass
 * images to the model; the agent must look at what it built. What the test saw is remembered below the data folder.
 */
export async function chooseHarness(wanted: Harness['name'] | 'auto', data: string): Promise<HarnessChoice> {
  if (wanted !== 'auto') return { harness: HARNESSES[wanted](), why: `the configuration asks for ${wanted}` };
  const candidate = zot();
  try {
    const version = await candidate.version();
    const seen = await cachedSelfTest(candidate, process.env.ZOT_PATH || 'zot', join(data, 'cache'));
    if (seen.images) return { harness: candidate, why: `zot ${version}: ${seen.told}` };
    return { harness: builtin, why: `not zot ${version}: ${seen.told}` };
  } catch (error) {
    return { harness: builtin, why: `no usable zot: ${asFactoryError(error).message}` };
  }
}
