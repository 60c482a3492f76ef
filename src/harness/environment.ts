import { join } from 'node:path';
import { toolFolders } from '../support/self.ts';
import { markOf } from './leftovers.ts';
import type { Command, HarnessRun } from './types.ts';

const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The agent's PATH: the factory's tools, this Node, then the system's own folders; nothing of the operator's. */
export function agentPath(): string {
  return [...new Set([...toolFolders(), ...SYSTEM_FOLDERS])].join(':');
}

/** Where a run's HOME is: a scratch folder, so that no dot file of the operator's is found or written. */
export function homeOf(run: Pick<HarnessRun, 'scratch'>): string {
  return join(run.scratch, 'home');
}

/** Where a run's temporary files go: bwrap gives it a /tmp of its own, otherwise a folder of the run's. */
function tempOf(run: Pick<HarnessRun, 'scratch' | 'sandbox'>): string {
  return run.sandbox === 'bwrap' ? '/tmp' : join(run.scratch, 'tmp');
}

/**
 * The whole environment of a harness: an allow-list, and nothing is inherited beside it. A variable that holds one of
 * the factory's secrets is left out, whoever asked for it.
 */
export function agentEnvironment(
  run: HarnessRun,
  command: Command,
  secrets: readonly string[],
  own: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const env: Record<string, string | undefined> = {
    ...run.env,
    PATH: agentPath(),
    HOME: homeOf(run),
    TMPDIR: tempOf(run),
    LANG: own.LANG ?? 'C.UTF-8',
    LC_ALL: own.LC_ALL,
    TZ: own.TZ,
    CHROMIUM_PATH: own.CHROMIUM_PATH,
    ...command.env,
    // The checkout belongs to another user under `sandbox: user`; git would refuse to look at it.
    ...(run.sandbox === 'user'
      ? { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' }
      : {}),
    MACHINERY_SHIFT: markOf(run.shift, run.data),
  };
  const known = secrets.filter((secret) => secret !== '' && secret !== run.model.token);
  const clean = (value: string) => !known.some((secret) => value.includes(secret));
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && clean(entry[1])),
  );
}
