/** The shapes of a session log, one JSON object a line; see docs/formats.md. Unknown kinds and fields are kept out, never refused. */

export interface SessionMeta {
  id: string;
  task: string;
  model: string;
  provider: string;
  driver: string;
  workdir?: string;
  resumedFrom?: string;
}

export interface SessionImage {
  media_type: string;
  /** `sha256:<hex>` of the bytes. */
  digest: string;
  width?: number;
  height?: number;
  size?: number;
  tokens?: number;
  origin?: string;
  detail?: string;
  source: 'blob' | 'inline';
  /** base64, when inline. */
  data?: string;
}

export interface SessionActivity {
  kind: string;
  id?: string;
  name?: string;
  /** The very string the model sent. */
  arguments?: string;
  result?: unknown;
  failure?: string;
  reasoning_items?: unknown;
  reasoning_details?: unknown;
}

export type MessageType = 'user' | 'bot' | 'reasoning' | 'activity' | 'attachment' | 'checkpoint' | 'instructions';

export interface SessionMessage {
  type: MessageType | (string & {});
  text: string;
  activity?: SessionActivity;
  images?: SessionImage[];
}

export interface SessionEvent {
  kind: string;
  tool?: string;
  text?: string;
  iteration?: number;
}

export interface SessionResult {
  /** settled, failed, iterations, calls, time, continuations, cycle, empty, unsettled, aborted, error. */
  reason: string;
  message?: string;
  error?: string;
  failure?: { status?: number; response_body?: string; request_bytes?: number };
  code: number;
  iterations: number;
  calls: number;
  continuations: number;
  cycles: number;
  settles: number;
  inputTokens?: number;
  outputTokens?: number;
}

export type SessionLine = { at: string } & (
  | { kind: 'meta'; meta: SessionMeta }
  | { kind: 'message'; message: SessionMessage }
  | { kind: 'event'; event: SessionEvent }
  | { kind: 'reset' }
  | { kind: 'result'; result: SessionResult }
);
