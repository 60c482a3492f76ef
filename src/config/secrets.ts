import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import type { Settings } from './schema.ts';

/** A value that must reach nobody it was not meant for. */
export interface Secret {
  /** The variable or the setting it came from. */
  name: string;
  value: string;
}

/** Every variable that holds a secret. Each may be given as `<NAME>_FILE` instead, naming a file whose text is the value. */
export const SECRET_VARIABLES = {
  OPENROUTER_API_KEY: 'the key of openrouter',
  OPENAI_API_KEY: 'the key of openai',
  ANTHROPIC_API_KEY: 'the key of anthropic',
  MACHINERY_API_KEY: 'the key of a custom provider',
  HF_TOKEN: 'the token of the dataset hub',
  MACHINERY_GIT_TOKEN: 'the token for an origin over https',
  MACHINERY_CONSOLE_TOKEN: 'the token of the control room (made at first start when unset)',
} as const;

export type SecretName = keyof typeof SECRET_VARIABLES;

/** The value of a variable that is given as `<NAME>_FILE`. @throws FactoryError `config/invalid` when it cannot be read. */
export function fromFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new FactoryError('config/invalid', {
      message: `${name}_FILE names ${path}, which cannot be read: ${(error as Error).message}`,
      mend: `Put the value of ${name} in that file, readable by the factory's user, or unset ${name}_FILE.`,
      data: { variable: `${name}_FILE` },
      cause: error,
    });
  }
}

/** Shorter than this a webhook's path or a password in an address is no secret: it would be found in any text by chance. */
const SHORTEST_PATH = 12;
const SHORTEST_PASSWORD = 6;

/** The secrets that settings hold: a webhook's address and its path, and passwords that are written into an address. */
function secretsIn({ origin, base_url, webhooks }: Pick<Settings, 'origin' | 'base_url' | 'webhooks'>): Secret[] {
  const found = webhooks.flatMap((address) => {
    const { pathname, search } = new URL(address);
    const path = `${pathname}${search}`;
    const values = path.length < SHORTEST_PATH ? [address] : [address, path];
    return values.map((value) => ({ name: 'webhooks', value }));
  });
  for (const [name, address] of Object.entries({ origin, base_url })) {
    const password = address !== undefined && URL.canParse(address) ? new URL(address).password : '';
    for (const value of new Set([password, decoded(password)]))
      if (value.length >= SHORTEST_PASSWORD) found.push({ name, value });
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where the control room's token is kept that the factory made itself. */
export const consoleTokenFile = (data: string) => join(data, 'console-token');

/**
 * Every secret of a factory: those of its environment and its settings, and the control room's token that it keeps in its
 * data folder, which must be kept out of rows and logs as any other.
 */
export function allSecrets(
  env: NodeJS.ProcessEnv,
  data: string,
  values: Pick<Settings, 'origin' | 'base_url' | 'webhooks'>,
): Secret[] {
  const set = [...readSecrets(env), ...secretsIn(values)];
  const name = 'MACHINERY_CONSOLE_TOKEN';
  if (set.some((secret) => secret.name === name)) return set;
  const file = consoleTokenFile(data);
  const value = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return value === '' ? set : [...set, { name, value }];
}

/** The secrets that are set in an environment. @throws FactoryError `config/invalid` for a `_FILE` that cannot be read. */
function readSecrets(env: NodeJS.ProcessEnv): Secret[] {
  return Object.keys(SECRET_VARIABLES).flatMap((name) => {
    const path = env[`${name}_FILE`];
    const value = env[name]?.trim() || (path ? fromFile(name, path) : '');
    return value === '' ? [] : [{ name, value }];
  });
}
