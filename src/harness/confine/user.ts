import { lstatSync } from 'node:fs';
import { chmod, lchown } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { FactoryError } from '../../support/errors.ts';
import { processTable } from '../../support/proc.ts';
import { run as runProgram, signalGroup } from '../../support/process.ts';
import type { HarnessRun } from '../types.ts';
import { type Account, accountOf, asAgent } from './account.ts';
import { type Confinement, writable } from './confinement.ts';
import { sweepMarked } from './none.ts';
import { closeWay, openWay, shareFolder } from './share.ts';

/** The agent's user when none is named. */
const AGENT_USER = 'machinery-agent';

const ofRun = (run: HarnessRun) => accountOf(run.agentUser ?? AGENT_USER);

function alive(account: Account): number[] {
  return processTable()
    .map((process) => process.pid)
    .filter((pid) => lstatSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === account.uid);
}

/**
 * Ends every process of the agent's user, however it hides: that user is the factory's own and runs nothing else. The
 * signal is sent as that user, to all it may signal.
 */
export async function sweepUser(account: Account): Promise<void> {
  const kill = asAgent(account, ['sh', '-c', 'kill -KILL -1']);
  for (const until = Date.now() + 5000; alive(account).length > 0; await sleep(20)) {
    await runProgram(kill.file, kill.args, { cwd: '/', env: {}, timeoutMs: 5000 });
    if (Date.now() < until) continue;
    const pids = alive(account);
    if (pids.length === 0) return;
    throw new FactoryError('harness/leftovers', {
      message: `processes ${pids.join(', ')} of the agent's user \`${account.name}\` could not be ended`,
      mend: 'Look at them with `ps`: they wait for something in the kernel. The next shift starts when they are gone.',
      data: { pids },
    });
  }
}

/** Run as the agent's user, on folders: what is not open to its group is opened. Folders first, so that all is reached. */
const OPEN = `
find "$@" -user "$(id -u)" -type d ! -perm -770 -exec chmod ug+rwx {} \\;
find "$@" -user "$(id -u)" -type f ! -perm -660 -exec chmod ug+rw {} +
true`;

async function reclaimAs(account: Account, folders: string[]): Promise<void> {
  const open = asAgent(account, ['sh', '-c', OPEN, 'sh', ...folders]);
  await runProgram(open.file, open.args, { cwd: '/', env: { PATH: '/usr/bin:/bin' }, timeoutMs: 120_000 });
}

/** The order is read by the agent, and stays the orchestrator's. */
async function shareOrder(order: string, account: Account): Promise<void> {
  await lchown(order, process.getuid?.() ?? 0, account.gid);
  await chmod(order, 0o640);
}

/** A user of its own: the agent cannot read the orchestrator's environment, nor a folder that is shut to others. */
export const user: Confinement = {
  kind: 'user',
  prepare: async (run) => {
    const account = await ofRun(run);
    await openWay(run.data, [...writable(run), run.order], account);
    // What an earlier run left unreadable is opened by the one it belongs to.
    await reclaimAs(account, writable(run));
    for (const folder of writable(run)) await shareFolder(folder, account);
    await shareOrder(run.order, account);
  },
  wrap: async (command, run) =>
    asAgent(await ofRun(run), ['sh', '-c', 'umask 002; exec "$@"', 'sh', command.file, ...command.args]),
  ask: (pid) => {
    signalGroup(pid, 'SIGTERM');
  },
  sweep: async (run) => {
    await sweepUser(await ofRun(run));
    await sweepMarked(run);
  },
  reclaim: async (run, folders) => reclaimAs(await ofRun(run), folders),
  release: async (run) => {
    await reclaimAs(await ofRun(run), writable(run));
    await closeWay(run.data);
  },
};
