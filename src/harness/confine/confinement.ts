import type { Command, HarnessRun, SandboxKind } from '../types.ts';

/** One way of keeping a harness to what is its own. Each is a file here and a line in `index.ts`. */
export interface Confinement {
  kind: SandboxKind;
  /** Gives the agent what it may write, before it is started. */
  prepare(run: HarnessRun): Promise<void>;
  /** The command line that starts a harness confined. It holds no secret: everybody on the machine can read it. */
  wrap(command: Pick<Command, 'file' | 'args'>, run: HarnessRun): Promise<Pick<Command, 'file' | 'args'>>;
  /** Asks the started harness to stop (SIGTERM); `pid` is the process that was started. */
  ask(pid: number): void;
  /** Ends every process of the run, whatever group or session it is in now. */
  sweep(run: HarnessRun): Promise<void>;
  /** Makes what the agent wrote below some folders of the run readable for the orchestrator; also while it runs. */
  reclaim(run: HarnessRun, folders: string[]): Promise<void>;
  /** Takes everything back when no process of the run is left. */
  release(run: HarnessRun): Promise<void>;
}

/** The folders a run may write, beside its /tmp. */
export function writable(run: HarnessRun): string[] {
  return [run.checkout, run.sessions, run.records, run.scratch];
}
