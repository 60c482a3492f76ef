import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FactoryError } from '../support/errors.ts';

/** A value that must reach nobody it was not meant for. */
export interface Secret {
  /** The variable it came from. */
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

function fromFile(name: string, path: string): string {
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

/** Where the control room's token is kept that the factory made itself. */
export const consoleTokenFile = (data: string) => join(data, 'console-token');

/**
 * Every secret of a factory: those of its environment, and the control room's token that it keeps in its data folder,
 * which must be kept out of rows and logs as any other.
 */
export function allSecrets(env: NodeJS.ProcessEnv, data: string): Secret[] {
  const set = readSecrets(env);
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
