import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type FactoryError as Failure, FactoryError, asFactoryError } from '../../support/errors.ts';
import { type RunResult, run as runProgram } from '../../support/process.ts';
import { PACKAGE_ROOT } from '../../support/self.ts';
import { agentPath } from '../environment.ts';
import type { HarnessRun, SandboxKind } from '../types.ts';
import { accountOf, asAgent, effectiveCapabilities, has } from './account.ts';
import { bwrapArguments } from './bwrap.ts';

/** What choosing a confinement depends on. */
export interface SandboxFacts {
  /** The data folder; it is there already. */
  data: string;
  /** The agent's user, for `user`. */
  user: string;
}

export interface SandboxChoice {
  kind: SandboxKind;
  /** One sentence for the record and for `doctor`. */
  why: string;
}

const TRIAL_MS = 20_000;
const lastLine = (result: RunResult) => (result.stderr || result.stdout).trim().split('\n').at(-1) ?? '';

/** Tries bubblewrap for real, on folders of its own. @returns null when it works, else what stands in its way. */
async function bwrapObstacle(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'machinery-trial-'));
  try {
    const [data, checkout] = [join(folder, 'data'), join(folder, 'data', 'checkout')];
    await mkdir(checkout, { recursive: true });
    await writeFile(join(data, 'canary'), 'canary');
    const order = join(folder, 'order.yaml');
    await writeFile(order, '');
    const run = { checkout, sessions: checkout, records: checkout, scratch: checkout, order, data } as HarnessRun;
    const script = 'test -w . && test ! -e ../canary && exec "$0" --version';
    const args = [...bwrapArguments(run, process.execPath), 'sh', '-c', script, process.execPath];
    const result = await runProgram('bwrap', args, { env: { PATH: agentPath() }, timeoutMs: TRIAL_MS });
    return result.exitCode === 0 ? null : lastLine(result) || 'a trial run of bwrap did not succeed';
  } catch (error) {
    return asFactoryError(error).message;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As the agent: no power left, and what it needs within reach. Each failing line says what is wrong. */
const AGENT_TRIAL = `
grep -Eq '^CapEff:[[:space:]]*0+$' /proc/self/status || { echo 'the agent would keep capabilities' >&2; exit 1; }
grep -Eq '^CapAmb:[[:space:]]*0+$' /proc/self/status || { echo 'the agent would keep ambient capabilities' >&2; exit 1; }
"$1" --version >/dev/null || { echo "the agent's user cannot run $1" >&2; exit 1; }
test -r "$2" || { echo "the agent's user cannot read $2" >&2; exit 1; }
test -x "$3" || { echo "the agent's user cannot reach $3" >&2; exit 1; }`;

async function userObstacle(facts: SandboxFacts): Promise<string | null> {
  try {
    const account = await accountOf(facts.user);
    const power = effectiveCapabilities();
    const missing = (['SETUID', 'SETGID', 'KILL'] as const).filter((name) => !has(power, name));
    if (missing.length > 0) return `the orchestrator has no CAP_${missing.join(', CAP_')}`;
    if (!has(power, 'CHOWN') && !(process.getgroups?.() ?? []).includes(account.gid)) {
      return `the orchestrator is not in the group of the agent's user \`${account.name}\``;
    }
    const reach = [process.execPath, join(PACKAGE_ROOT, 'package.json'), dirname(facts.data)];
    const trial = asAgent(account, ['sh', '-c', AGENT_TRIAL, 'sh', ...reach]);
    const result = await runProgram(trial.file, trial.args, {
      cwd: '/',
      env: { PATH: agentPath() },
      timeoutMs: TRIAL_MS,
    });
    return result.exitCode === 0 ? null : lastLine(result) || "a trial run as the agent's user did not succeed";
  } catch (error) {
    return asFactoryError(error).message;
  }
}

function unavailable(kind: SandboxKind, why: string): Failure {
  return new FactoryError('sandbox/unavailable', {
    message: `sandbox: ${kind} does not work here: ${why}`,
    mend: 'Write sandbox: auto to take what works, or see docs/harnesses.md for what each confinement needs.',
    data: { kind },
  });
}

/**
 * Chooses how the agent is confined: `auto` takes bwrap where a trial run works, else a user of its own where the
 * orchestrator may switch users, else none. One that is asked for by name must work.
 * @throws FactoryError `sandbox/unavailable`
 */
export async function chooseSandbox(wanted: SandboxKind | 'auto', facts: SandboxFacts): Promise<SandboxChoice> {
  if (wanted === 'none') return { kind: 'none', why: 'the configuration asks for none' };
  const noBwrap = wanted === 'user' ? 'not asked for' : await bwrapObstacle();
  if (noBwrap === null) return { kind: 'bwrap', why: 'a trial run of bwrap worked' };
  if (wanted === 'bwrap') throw unavailable('bwrap', noBwrap);
  const noUser = await userObstacle(facts);
  if (noUser !== null && wanted === 'user') throw unavailable('user', noUser);
  if (noUser === null) {
    const how = `the agent runs as \`${facts.user}\``;
    return { kind: 'user', why: wanted === 'user' ? how : `${how}; no bwrap: ${noBwrap}` };
  }
  return { kind: 'none', why: `no bwrap: ${noBwrap}; no user of its own: ${noUser}` };
}

/**
 * Refuses to let a real model work unconfined unless the operator wrote so.
 * @throws FactoryError `sandbox/refused`
 */
export function refuseUnconfined(kind: SandboxKind, provider: string, wanted: SandboxKind | 'auto'): void {
  if (kind !== 'none' || wanted === 'none' || provider === 'rehearsal') return;
  throw new FactoryError('sandbox/refused', {
    message: `no confinement works here, and the agent of ${provider} would run without one`,
    mend: 'Install bubblewrap (`apt-get install bubblewrap`), or give the agent a user of its own (docs/harnesses.md); `machinery doctor` says what stands in the way. To accept it as it is, write sandbox: none.',
    data: { provider },
  });
}
