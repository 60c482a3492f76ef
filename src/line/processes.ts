import { setTimeout as sleep } from 'node:timers/promises';
import { processTable, readProcess, variableOf } from '../support/proc.ts';

/**
 * The helpers of git calls, found by a mark in their environment. A git that is ended leaves its transport helper waiting
 * for the origin, and a factory that is killed leaves its git calls running: both are ended by their mark.
 */

/** The variable that marks every process of a git call. */
export const MARK = 'MACHINERY_LINE';

interface Marked {
  pid: number;
  call: string;
  owner: string;
}

const self = `${process.pid}.${readProcess(process.pid)?.started ?? 0}`;

/** The mark of one call on a git dir, made by this process. */
export function markOf(call: string, gitDir: string): string {
  return `${call}:${self}:${gitDir}`;
}

/** All processes of calls on a git dir, whoever made them. Empty where there is no /proc. */
function marked(gitDir: string): Marked[] {
  return processTable().flatMap(({ pid }) => {
    const mark = variableOf(pid, MARK);
    const [call = '', owner = '', ...path] = mark === null ? [] : Buffer.from(mark, 'latin1').toString().split(':');
    return path.join(':') === gitDir ? [{ pid, call, owner }] : [];
  });
}

async function end(find: () => Marked[]): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of find()) {
      try {
        process.kill(pid, name);
      } catch {
        // It ended by itself.
      }
    }
  };
  const gone = async (withinMs: number) => {
    for (let waited = 0; waited < withinMs && find().length > 0; waited += 20) await sleep(20);
  };
  // Git takes its locks away on SIGTERM; what does not heed it within a second is killed, and takes a moment to be gone.
  signal('SIGTERM');
  await gone(1000);
  signal('SIGKILL');
  await gone(5000);
}

/** Ends what is left of one call of this process. */
export async function endCall(call: string, gitDir: string): Promise<void> {
  await end(() => marked(gitDir).filter((each) => each.owner === self && each.call === call));
}

function alive(owner: string): boolean {
  const [pid = '', start = ''] = owner.split('.');
  return String(readProcess(Number(pid))?.started) === start;
}

/**
 * Ends what calls on a git dir left running whose maker is dead.
 * @returns whether nobody works on the git dir now, so that a lock in it is stale.
 */
export async function endOrphans(gitDir: string): Promise<boolean> {
  await end(() => marked(gitDir).filter((each) => !alive(each.owner)));
  return marked(gitDir).length === 0;
}
