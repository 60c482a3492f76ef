import { readFileSync } from 'node:fs';
import { FactoryError } from '../../support/errors.ts';
import { run as runProgram } from '../../support/process.ts';

/** The system user that an agent runs as under `sandbox: user`. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

async function number(args: string[]): Promise<number | null> {
  const { exitCode, stdout } = await runProgram('id', args);
  return exitCode === 0 ? Number(stdout) : null;
}

/**
 * Looks the agent's user up.
 * @throws FactoryError `sandbox/unavailable` when there is none, or when it is root or the orchestrator itself: every
 * process of that user is ended after a run.
 */
export async function accountOf(name: string): Promise<Account> {
  const [uid, gid] = await Promise.all([number(['-u', '--', name]), number(['-g', '--', name])]);
  if (uid === null || gid === null) {
    throw new FactoryError('sandbox/unavailable', {
      message: `there is no user \`${name}\` for the agent`,
      mend: `Create it (\`useradd --system --no-create-home ${name}\`), or name another with agent.user.`,
    });
  }
  if (uid === 0 || uid === process.getuid?.()) {
    throw new FactoryError('sandbox/unavailable', {
      message: `the agent's user \`${name}\` is ${uid === 0 ? 'root' : "the orchestrator's own"}`,
      mend: 'Give the agent a user that nothing else runs as, and name it with agent.user.',
    });
  }
  return { name, uid, gid };
}

/**
 * The command line that runs a program as the agent's user with nothing of the orchestrator's power. Ambient
 * capabilities survive a plain change of user, so they are dropped by name; the program is killed when its parent dies.
 */
export function asAgent(account: Account, program: string[]): { file: string; args: string[] } {
  return {
    file: 'setpriv',
    args: [
      ...['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'],
      ...['--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs', '--pdeathsig', 'KILL', '--'],
      ...program,
    ],
  };
}

/** Numbers of the capabilities that switching users takes (linux/capability.h). */
export const CAPABILITIES = { CHOWN: 0, KILL: 5, SETGID: 6, SETUID: 7 } as const;

/** The capabilities in effect for this process, as a bit set; none where there is no /proc. */
export function effectiveCapabilities(): bigint {
  try {
    const found = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'));
    return BigInt(`0x${found?.[1] ?? '0'}`);
  } catch {
    return 0n;
  }
}

/** Whether a capability is in a set. */
export function has(set: bigint, capability: keyof typeof CAPABILITIES): boolean {
  return ((set >> BigInt(CAPABILITIES[capability])) & 1n) === 1n;
}
