import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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

/** A process's start in clock ticks since boot, which with its id names it for good; null when it is gone. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

const self = `${process.pid}.${startOf(process.pid) ?? 0}`;

/** The mark of one call on a git dir, made by this process. */
export function markOf(call: string, gitDir: string): string {
  return `${call}:${self}:${gitDir}`;
}

/** All processes of calls on a git dir, whoever made them. Empty where there is no /proc. */
function marked(gitDir: string): Marked[] {
  const found: Marked[] = [];
  let names: string[] = [];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return found;
  }
  for (const name of names) {
    try {
      const entry = readFileSync(`/proc/${name}/environ`)
        .toString()
        .split('\0')
        .find((each) => each.startsWith(`${MARK}=`));
      const [call = '', owner = '', ...path] = entry?.slice(MARK.length + 1).split(':') ?? [];
      if (path.join(':') === gitDir && startOf(Number(name)) !== null) found.push({ pid: Number(name), call, owner });
    } catch {
      // Gone, or somebody else's.
    }
  }
  return found;
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
  return startOf(Number(pid)) === start;
}

/**
 * Ends what calls on a git dir left running whose maker is dead.
 * @returns whether nobody works on the git dir now, so that a lock in it is stale.
 */
export async function endOrphans(gitDir: string): Promise<boolean> {
  await end(() => marked(gitDir).filter((each) => !alive(each.owner)));
  return marked(gitDir).length === 0;
}
