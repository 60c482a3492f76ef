import { HubApiError, whoAmI } from '@huggingface/hub';
import { secretOf } from '../../config/load.ts';
import { Outbox } from '../../dataset/outbox.ts';
import { Quarantine } from '../../dataset/quarantine.ts';
import { type Examiner, broken, ok, warning } from '../examination.ts';

const PATIENCE_MS = 20_000;

/** Rows that wait or are held, and whether the hub knows the token. */
export const hub: Examiner = {
  name: 'dataset',
  async look({ config }) {
    const held = await new Quarantine(config.data).list();
    const waiting = (await new Outbox(config.data).ids()).length;
    const { repo, endpoint } = config.dataset.hub;
    const rows = `${waiting} ${waiting === 1 ? 'row waits' : 'rows wait'} in the outbox`;
    if (held.length > 0) {
      return warning(
        `${held.length} of the rows may hold a secret and are kept back, the oldest ${held[0]?.id}`,
        'Read quarantine/<id>/held.json in the data folder; `machinery ship --redact <id>` takes the secret out and ships.',
      );
    }
    if (repo === undefined) return ok('no hub is configured: rows stay in the local store');
    const token = secretOf(config, 'HF_TOKEN');
    if (!token?.startsWith('hf_')) {
      const told = token === undefined ? 'HF_TOKEN is not set' : 'HF_TOKEN is not a hub token (they start with hf_)';
      return broken(`${told}; ${rows} for ${repo}`, 'Set HF_TOKEN (or HF_TOKEN_FILE) to a token that may write there.');
    }
    const who = await whoAmI({
      accessToken: token,
      ...(endpoint === undefined ? {} : { hubUrl: endpoint.replace(/\/+$/, '') }),
      fetch: (input: Parameters<typeof fetch>[0], init?: RequestInit) =>
        fetch(input, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) }),
    }).catch((error: unknown) => error);
    if (who instanceof HubApiError && (who.statusCode === 401 || who.statusCode === 403))
      return broken(`the hub does not know this token; ${rows} for ${repo}`, 'Give HF_TOKEN a token that is valid.');
    if (who instanceof Error || typeof who !== 'object' || who === null || !('name' in who))
      return warning(`the hub does not answer; ${rows} for ${repo}`, 'Nothing is lost: rows go with a later shift.');
    const role = (who as { auth?: { accessToken?: { role?: string } } }).auth?.accessToken?.role;
    if (role === 'read')
      return broken(`HF_TOKEN may only read; ${rows} for ${repo}`, 'Give it a token that may write.');
    return ok(`${repo}, as ${String(who.name)}; ${rows}`);
  },
};
