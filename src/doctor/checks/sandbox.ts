import { mkdir } from 'node:fs/promises';
import { chooseSandbox, refuseUnconfined } from '../../harness/confine/choose.ts';
import { resolveUpstream } from '../../harness/providers.ts';
import type { Config } from '../../config/load.ts';
import { type Examiner, ok, warning } from '../examination.ts';

/** How the agent would be confined here, and why so. */
export const sandbox: Examiner = {
  name: 'sandbox',
  async look({ config }) {
    await mkdir(config.data, { recursive: true, mode: 0o700 });
    const { kind, why } = await chooseSandbox(config.sandbox, { user: config.agent.user, data: config.data });
    if (kind !== 'none') return ok(`${kind}: ${why}`);
    refuseUnconfined(kind, providerOf(config), config.sandbox);
    return warning(
      `none: ${why}`,
      'The agent works unconfined. Install bubblewrap, or give the agent a user of its own (docs/harnesses.md).',
    );
  },
};

/** What is wrong with the provider is for its own check to say. */
function providerOf(config: Config): string {
  try {
    return resolveUpstream(config).provider;
  } catch {
    return config.provider ?? 'an unnamed provider';
  }
}
