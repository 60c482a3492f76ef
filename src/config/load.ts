import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import { findConfig } from './find.ts';
import { type Problem, invalid, problemsOf } from './problems.ts';
import { type Settings, settings } from './schema.ts';
import { SECRET_VARIABLES, type Secret, type SecretName, allSecrets, fromFile } from './secrets.ts';
import { listSettings, settingValue } from './variables.ts';
import { parseYaml } from './yaml.ts';

export { findConfig };

/** The resolved configuration: factory.yaml, then the environment, then flags. Frozen. */
export interface Config extends Settings {
  /** The folder of factory.yaml. */
  root: string;
  file: string;
  /** The data folder, absolute. */
  data: string;
  secrets: readonly Secret[];
}

export interface LoadOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Dotted keys and values that win over everything else. */
  flags?: Record<string, unknown>;
}

/** Variables with our prefix that are not settings. */
const OTHER_VARIABLES = new Set(['MACHINERY_DATA', 'MACHINERY_CONFIG', 'MACHINERY_SHIFT']);

/** Webhooks are a setting whose values are secrets, so they may come from a file too: one address a line. */
const WEBHOOKS_FILE = 'MACHINERY_WEBHOOKS_FILE';
const linesOf = (text: string) => text.split(/\s+/).filter((line) => line !== '');

function assign(target: Record<string, unknown>, key: string, value: unknown): void {
  const path = key.split('.');
  let node = target;
  for (const part of path.slice(0, -1)) {
    const next = node[part];
    node[part] = typeof next === 'object' && next !== null && !Array.isArray(next) ? { ...next } : {};
    node = node[part] as Record<string, unknown>;
  }
  node[path.at(-1) as string] = value;
}

/**
 * Puts `MACHINERY_*` over the file's values, and notes in `sources` which setting came from which.
 * @returns the variables that name no setting.
 */
function overlay(values: Record<string, unknown>, env: NodeJS.ProcessEnv, sources: Map<string, string>): Problem[] {
  const byVariable = new Map(listSettings().map((setting) => [setting.variable, setting]));
  const problems: Problem[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('MACHINERY_') || text === undefined || text === '') continue;
    const setting = byVariable.get(variable);
    if (setting) {
      assign(values, setting.key, settingValue(setting, text));
      sources.set(setting.key, variable);
    } else if (variable === WEBHOOKS_FILE) {
      values.webhooks = linesOf(fromFile('MACHINERY_WEBHOOKS', text));
      sources.set('webhooks', variable);
    } else if (!OTHER_VARIABLES.has(variable) && !(variable.replace(/_FILE$/, '') in SECRET_VARIABLES)) {
      problems.push({ key: variable, from: variable, told: 'is an environment variable that names no setting' });
    }
  }
  return problems;
}

/** A problem with where its value came from; a line of the file would mislead where it is not the file's. */
function sourced(problem: Problem, sources: ReadonlyMap<string, string>): Problem {
  for (const [key, from] of sources) {
    if (problem.key !== key && !problem.key.startsWith(`${key}.`)) continue;
    return { key: problem.key, from, told: problem.told };
  }
  return problem;
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

/**
 * Reads and checks the whole configuration.
 * @throws FactoryError `config/missing`, or `config/invalid` which tells all mistakes at once, each with key and line.
 */
export async function loadConfig(options: LoadOptions = {}): Promise<Config> {
  const cwd = options.cwd ?? process.cwd();
  const env = options.env ?? process.env;
  const file = findConfig(cwd, env);
  const text = file === null ? null : await readFile(file, 'utf8').catch(() => null);
  if (file === null || text === null) {
    throw new FactoryError('config/missing', {
      message: file === null ? `there is no factory.yaml in ${cwd} or above it` : `${file} cannot be read`,
      mend: 'Run the command in a clone of the factory, or name the file with MACHINERY_CONFIG.',
    });
  }
  const { value, document, lines } = parseYaml(text, 'config/invalid', file);
  const parsedFile: unknown = value ?? {};
  if (typeof parsedFile !== 'object' || Array.isArray(parsedFile)) {
    throw invalid('config/invalid', file, [{ key: '', line: 1, told: 'must be a mapping of settings' }]);
  }
  const values: Record<string, unknown> = { ...parsedFile };
  const sources = new Map<string, string>();
  const strays = overlay(values, env, sources);
  for (const [key, value] of Object.entries(options.flags ?? {})) {
    if (value === undefined) continue;
    assign(values, key, value);
    sources.set(key, `--${key}`);
  }

  const parsed = settings.safeParse(values);
  const wrong = parsed.success ? [] : problemsOf(parsed.error, document, lines, values);
  const problems = [...strays, ...wrong.map((problem) => sourced(problem, sources))];
  if (problems.length > 0 || !parsed.success) throw invalid('config/invalid', file, problems);

  const root = dirname(file);
  const data = resolve(root, env.MACHINERY_DATA ?? '.machinery');
  return freeze({
    ...parsed.data,
    origin: originOf(root, parsed.data.origin),
    root,
    file,
    data,
    secrets: allSecrets(env, data, parsed.data),
  });
}

const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i;
const SCP_LIKE = /^[^/\s]+@[^/\s:]+:/;

/** A path becomes absolute; a URL stays as it is. */
function originOf(root: string, origin: string): string {
  return URL_LIKE.test(origin) || SCP_LIKE.test(origin) || isAbsolute(origin) ? origin : resolve(root, origin);
}

/** Whether an origin is a folder of this machine. */
export function isLocalOrigin(origin: string): boolean {
  return isAbsolute(origin) || /^file:\/\//i.test(origin);
}

/** The value of one secret, or undefined when it is not set. */
export function secretOf(config: Pick<Config, 'secrets'>, name: SecretName): string | undefined {
  return config.secrets.find((secret) => secret.name === name)?.value;
}
