import type { SessionResult } from '../session/types.ts';
import type { DiskLimits } from './disk.ts';

/** Where a harness finds its model: the relay's loopback address and this shift's token, never the provider's own. */
export interface ModelAddress {
  /** The real provider's name (rehearsal, openrouter…): the log's and so the row's `provider`. */
  provider: string;
  model: string;
  /** `http://127.0.0.1:<port>/v1`; chat completions are at `<baseUrl>/chat/completions`. */
  baseUrl: string;
  token: string;
  vision: boolean;
  /** Tokens the model's context holds. */
  context: number;
}

/** One run of a harness: everything it needs, all paths absolute. */
export interface HarnessRun {
  /** The shift's id: marks every process of this run in its environment (MACHINERY_SHIFT), so that leftovers can be found. */
  shift: string;
  checkout: string;
  /** The chain's own session folder. */
  sessions: string;
  records: string;
  /** A private folder outside the checkout: generated configuration, scratch HOME, TMPDIR. */
  scratch: string;
  /** The order file, a copy outside the checkout. */
  order: string;
  /** Id of the session to continue; absent for a fresh run. */
  resume?: string;
  /** What the gates found, for a rework; it reaches the agent as the harness can take it. */
  findings?: string;
  model: ModelAddress;
  /** Tokens and dollars are told to a harness so that its agent hears of them; the relay is who ends a run at them. */
  limits: {
    timeMs: number;
    graceMs: number;
    iterations: number;
    tokens?: number;
    dollars?: number;
    /** Absent: the run may fill the disk. */
    disk?: DiskLimits;
  };
  sandbox: SandboxKind;
  /** The system user that the agent is under `sandbox: user`; `machinery-agent` when absent. */
  agentUser?: string;
  /** Extra variables the configuration allows through to the agent. */
  env: Record<string, string>;
  /** The harness's own output is appended here. */
  agentLog: string;
  /** Folder that confinement hides from the agent. */
  data: string;
}

export type SandboxKind = 'bwrap' | 'user' | 'none';

/** How a harness is started: the one thing each harness must say of itself. */
export interface Command {
  file: string;
  args: string[];
  env: Record<string, string>;
}

/** A harness is a command that takes a checkout, a session folder and an order, works, writes a session log and exits. */
export interface Harness {
  name: 'builtin' | 'zot';
  /** Its version, or a FactoryError that says what is missing and how to mend it. */
  version(): Promise<string>;
  /** Writes whatever files the run needs below `run.scratch` and returns the command line. */
  command(run: HarnessRun): Promise<Command>;
}

/** What the agent does now, read from the growing session log. */
export interface Activity {
  at: string;
  kind: 'say' | 'call' | 'result' | 'event';
  /** One line, at most 200 characters. */
  text: string;
}

/** How a run ended. The verdict is the log's; the exit code is only told. */
export interface HarnessOutcome {
  /** The log this run wrote, or null when it wrote none (it did not run). */
  session: string | null;
  result: SessionResult | null;
  exitCode: number | null;
  signal: string | null;
  /** Why the orchestrator ended it, if it did. */
  cut: 'time' | 'stop' | 'disk' | null;
  /** What was over its limit, in words; with `disk` only. */
  over?: string;
  durationMs: number;
}
