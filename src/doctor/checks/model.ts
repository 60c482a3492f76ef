import { resolveUpstream } from '../../harness/providers.ts';
import type { Upstream } from '../../harness/upstream.ts';
import { type Examination, type Examiner, broken, ok, warning } from '../examination.ts';

const PATIENCE_MS = 60_000;

/** The provider, the model, whether the key is there; live, whether the model answers. */
export const model: Examiner = {
  name: 'model',
  async look({ config, live }) {
    const upstream = resolveUpstream(config);
    if (upstream.provider === 'rehearsal') return ok('the rehearsal: scripted, needs no key');
    const seen = `${upstream.model} of ${upstream.provider}, ${upstream.key ? 'key set' : 'no key needed'}`;
    return live ? call(upstream, seen) : ok(`${seen} (--live asks it something)`);
  },
};

/** One request, as small as it can be said. */
async function call(upstream: Upstream, seen: string): Promise<Omit<Examination, 'name'>> {
  const startedAt = performance.now();
  const response = await fetch(`${upstream.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...upstream.headers,
      ...(upstream.key ? { authorization: `Bearer ${upstream.key}` } : {}),
    },
    body: JSON.stringify({
      model: upstream.model,
      messages: [{ role: 'user', content: 'Answer with the word: here' }],
    }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch((error: Error & { cause?: { code?: string } }) => error);
  if (response instanceof Error) {
    const why = (response.cause as { code?: string } | undefined)?.code ?? response.message;
    return broken(`${seen}; ${upstream.baseUrl} does not answer (${why})`, 'See whether this machine reaches it.');
  }
  const text = await response.text().catch(() => '');
  if (response.ok) {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    return /"choices"/.test(text)
      ? ok(`${seen}; it answered in ${seconds} s`)
      : broken(
          `${seen}; it answered with what is no chat completion`,
          'See whether base_url ends where /chat/completions begins.',
        );
  }
  const said = `${seen}; it answered ${response.status}: ${text.replace(/\s+/g, ' ').slice(0, 200)}`;
  if (response.status === 401 || response.status === 403) return broken(said, 'Give it a key that may use this model.');
  if (response.status === 402) return broken(said, 'The account has no credit left: add some, or use another key.');
  if (response.status === 404) return broken(said, 'See whether the model is written as the provider names it.');
  if (response.status === 429) return warning(said, 'Wait, or raise the limit of the account.');
  return broken(said, 'See what the provider says of its own state, then try again.');
}
