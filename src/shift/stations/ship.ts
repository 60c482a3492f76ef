import { secretOf } from '../../config/load.ts';
import { ship as shipRows } from '../../dataset/ship.ts';
import type { Station } from '../station.ts';

/** Sends waiting rows to the dataset's hub. Trouble there is told, but it does not turn the shift red: the rows wait. */
export const ship: Station = {
  name: 'ship',
  always: true,
  async run({ config, log }) {
    const { repo, endpoint, private: hidden } = config.dataset.hub;
    const token = secretOf(config, 'HF_TOKEN');
    const { shipped, waiting, quarantined, trouble } = await shipRows({
      data: config.data,
      repo: repo ?? null,
      ...(endpoint ? { endpoint } : {}),
      ...(token ? { token } : {}),
      private: hidden,
      normalised: config.dataset.normalised,
      secrets: config.secrets.map(({ value }) => value),
      log,
    });
    const held = quarantined[0];
    if (held) {
      return {
        status: 'failed',
        summary: `${quarantined.length} rows are held in quarantine`,
        error: {
          code: 'dataset/secret',
          message: `row ${held.id} holds what looks like a secret (${held.rule}, ${held.place})`,
          mend: `Look at it in quarantine/, then: machinery ship --redact ${held.id}`,
        },
      };
    }
    if (trouble) log.warn({ trouble }, 'the rows wait in the outbox');
    if (repo === undefined)
      return { status: 'skipped', summary: 'no hub dataset is configured; rows are in the local store' };
    return { summary: `${shipped.length} shipped, ${waiting.length} waiting${trouble ? ` (${trouble.message})` : ''}` };
  },
};
