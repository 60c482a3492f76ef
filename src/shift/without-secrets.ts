import type { Config } from '../config/load.ts';
import { mapTexts } from '../dataset/texts.ts';
import { redactor } from '../support/redact.ts';

/** A copy of what is about to be kept or told, with the factory's secrets taken out of every text in it. */
export function withoutSecrets<T>({ secrets }: Pick<Config, 'secrets'>, value: T): T {
  return mapTexts(value, redactor(secrets.map((secret) => secret.value))) as T;
}
