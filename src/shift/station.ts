import type { Logger } from 'pino';
import type { Config } from '../config/load.ts';
import type { Order } from '../config/order.ts';
import type { DatasetStore } from '../dataset/store.ts';
import type { GateReport } from '../gates/finding.ts';
import type { Activity, Harness, HarnessOutcome, SandboxKind } from '../harness/types.ts';
import type { Upstream } from '../harness/upstream.ts';
import type { Line } from '../line/line.ts';
import type { ShiftRecord } from './record.ts';

/** What the stations have found out so far. A station reads it and returns what it adds. */
export interface Facts {
  /** Why there is nothing to do, once a station found that. */
  readonly idle?: string;
  readonly staff?: { harness: Harness; version: string; why: string; sandbox: SandboxKind; upstream: Upstream };
  readonly order?: Order;
  readonly line?: Line;
  readonly base?: string;
  readonly branch?: string;
  /** How many shifts continued the branch, this one included. */
  readonly continued?: number;
  /** The chain's session folder, and the session to resume or to judge; null for a fresh run. */
  readonly sessions?: string;
  readonly session?: string | null;
  /** Work that an earlier shift finished: it is judged and landed without an agent. */
  readonly finishedBefore?: boolean;
  /** What the agent must mend, as told to it at its next start. */
  readonly findings?: string;
  readonly outcome?: HarnessOutcome;
  /** Milliseconds that agents have worked in this shift. */
  readonly workedMs?: number;
  /** The last snapshot: what the gates judge. Absent when what the agent left could not be taken. */
  readonly work?: string | undefined;
  /** A clean export of that snapshot, which check and probe read. */
  readonly tree?: string;
  /** The new machine's slug, as scope or the catalogue tells it. */
  readonly machine?: string | null;
  readonly check?: GateReport;
  readonly probe?: GateReport;
  readonly scope?: GateReport;
  /** Machines that check found at fault on base already, so that mending them is allowed. */
  readonly repaired?: readonly string[];
  /** The landed commit. */
  readonly commit?: string;
  /** The process that worked this shift died; another one finishes it. */
  readonly interrupted?: true;
}

/** What every station is given. Nothing here may be changed by a station. */
export interface Context {
  readonly id: string;
  readonly folder: string;
  readonly config: Config;
  readonly store: DatasetStore;
  readonly factory: string;
  readonly facts: Facts;
  readonly record: Readonly<ShiftRecord>;
  readonly attempt: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onActivity: (activity: Activity) => void;
}

export interface StationResult {
  /** One line for the record and the terminal. */
  summary: string;
  /** ok unless given; a gate that found errors is `failed` with an error of its own. */
  status?: 'ok' | 'failed' | 'skipped';
  error?: { code: string; message: string; mend: string };
  facts?: Partial<Facts>;
  /** What the agent must mend: the shift goes back to the work station with it. */
  again?: string;
  /** What the record keeps of it. */
  record?: Partial<ShiftRecord>;
}

export interface Station {
  name: string;
  /** Runs whatever happened before. */
  always?: true;
  /** Why it has nothing to do now; null when it has. Asked only of stations that are not always run. */
  skip?(context: Context): string | null;
  run(context: Context): Promise<StationResult>;
}
