import { run } from '../../support/process.ts';
import { type Examiner, broken, ok } from '../examination.ts';

/** The first Node that runs all that is used here (its `engines` say the same), and the first git that reads its configuration from GIT_CONFIG_COUNT. */
const OLDEST_NODE = [20, 19] as const;
const OLDEST_GIT = [2, 31] as const;

const isOlder = (version: string, [major, minor]: readonly [number, number]) => {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a < major || (a === major && b < minor);
};

export const node: Examiner = {
  name: 'node',
  async look() {
    const version = process.versions.node;
    return isOlder(version, OLDEST_NODE)
      ? broken(`Node ${version} is too old`, `Install Node ${OLDEST_NODE.join('.')} or later.`)
      : ok(`Node ${version}`);
  },
};

export const git: Examiner = {
  name: 'git',
  async look() {
    const { stdout, exitCode } = await run('git', ['--version'], { timeoutMs: 20_000 });
    const version = /(\d+\.\d+(\.\d+)?)/.exec(stdout)?.[1];
    if (exitCode !== 0 || version === undefined) return broken('git does not tell its version', 'Install git anew.');
    return isOlder(version, OLDEST_GIT)
      ? broken(`git ${version} is too old`, `Install git ${OLDEST_GIT.join('.')} or later.`)
      : ok(`git ${version}`);
  },
};
