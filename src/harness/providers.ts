import { type Config, isLocalOrigin } from '../config/load.ts';
import type { SecretName } from '../config/secrets.ts';
import { secretOf } from '../config/load.ts';
import { FactoryError } from '../support/errors.ts';
import type { Upstream } from './upstream.ts';

/** One provider that is known by name. A new one is an entry here and a word in the configuration's schema. */
interface Provider {
  /** Up to and including `/v1`; a `base_url` in the configuration replaces it. */
  baseUrl?: string;
  keyVariable?: SecretName;
  headers?: Record<string, string>;
}

type ProviderName = NonNullable<Config['provider']>;

/** Addresses of the providers' OpenAI-compatible endpoints, as their own documentation gives them. */
const KNOWN: Record<ProviderName, Provider> = {
  rehearsal: {},
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    // How OpenRouter names the calling program in its rankings.
    headers: { 'x-title': 'Machinery' },
  },
  openai: { baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', keyVariable: 'ANTHROPIC_API_KEY' },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1' },
  custom: { keyVariable: 'MACHINERY_API_KEY' },
};

/** Whether an address is this machine's own. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}

function wrong(key: string, message: string, mend: string): FactoryError {
  return new FactoryError('config/invalid', { message, mend, data: { key } });
}

/** The provider that the configuration names; the rehearsal where it names none and nothing leaves the machine. */
function nameOf(config: Config): ProviderName {
  if (config.provider) return config.provider;
  if (isLocalOrigin(config.origin) && config.dataset.hub.repo === undefined) return 'rehearsal';
  const why = config.dataset.hub.repo === undefined ? 'the origin is remote' : 'rows are shipped to a hub dataset';
  throw wrong(
    'provider',
    `no provider is named, and ${why}: the rehearsal would be published`,
    'Set provider and model in factory.yaml (or MACHINERY_PROVIDER and MACHINERY_MODEL); `provider: rehearsal` if that is meant.',
  );
}

/**
 * Finds where the configured model is reached and with which key.
 * @throws FactoryError `config/invalid` (no provider, no model), `provider/address`, `provider/key-missing`
 */
export function resolveUpstream(config: Config): Upstream {
  const provider = nameOf(config);
  if (provider === 'rehearsal') return { provider, model: config.model ?? 'rehearsal', baseUrl: '' };
  const known = KNOWN[provider];
  if (config.model === undefined) {
    throw wrong('model', `no model is named for ${provider}`, 'Set model in factory.yaml, or MACHINERY_MODEL.');
  }
  const baseUrl = config.base_url ?? known.baseUrl;
  if (baseUrl === undefined) {
    throw new FactoryError('provider/address', {
      message: 'the custom provider has no address',
      mend: 'Set base_url in factory.yaml (or MACHINERY_BASE_URL), up to and including /v1.',
    });
  }
  const key = known.keyVariable && secretOf(config, known.keyVariable);
  if (!isLoopback(baseUrl)) {
    if (!baseUrl.startsWith('https:')) {
      throw new FactoryError('provider/address', {
        message: `${baseUrl} would carry the key and the work in the clear`,
        mend: 'Use an https address; http is only for this machine itself.',
      });
    }
    const variable = known.keyVariable ?? 'MACHINERY_API_KEY';
    if (!key && known.keyVariable) {
      throw new FactoryError('provider/key-missing', {
        message: `${provider} needs a key and ${variable} is not set`,
        mend: `Export ${variable}, or name a file that holds it with ${variable}_FILE.`,
        data: { variable },
      });
    }
  }
  return {
    provider,
    model: config.model,
    baseUrl,
    ...(key ? { key } : {}),
    ...(known.headers ? { headers: known.headers } : {}),
  };
}
