/**
 * The shapes of a session log, one JSON object a line; see docs/formats.md, section 3.
 * What a reader hands out has these shapes whatever the file held: unknown kinds and fields are dropped, never refused.
 */

/** The first line: who works on what. Absent strings are read as `''`. */
export interface SessionMeta {
  id: string;
  /** The text rendered from the order, byte for byte. */
  task: string;
  model: string;
  /** The connection's name, the real provider's: `rehearsal`, `openrouter`… */
  provider: string;
  /** The implementation that speaks to it: `openai`, `custom`… */
  driver: string;
  /** Absolute path of the checkout. */
  workdir?: string;
  /** Id of the session this one continues. */
  resumedFrom?: string;
}

/** An image the model was shown. Its bytes are in `<id>.blobs/<hex>.<ext>`, or inline. */
export interface SessionImage {
  media_type: string;
  /** `sha256:<hex>` of the bytes. */
  digest: string;
  /** Pixels. */
  width?: number;
  height?: number;
  /** Bytes. */
  size?: number;
  tokens?: number;
  /** Where the image came from: the path that was viewed. */
  origin?: string;
  detail?: string;
  source: 'blob' | 'inline';
  /** base64, when inline. */
  data?: string;
}

/** One half of a tool call. */
export interface SessionActivity {
  /** `request`, `response`; others may come. */
  kind: string;
  id?: string;
  name?: string;
  /** The very string the model sent. */
  arguments?: string;
  /** On a response: a string or any JSON. */
  result?: unknown;
  /** On a response: why the call could not be run; stands instead of a result. */
  failure?: string;
  reasoning_items?: unknown;
  reasoning_details?: unknown;
}

type MessageType = 'user' | 'bot' | 'reasoning' | 'activity' | 'attachment' | 'checkpoint' | 'instructions';

/** One entry of the conversation: replayed in order they are the agent's whole state. */
export interface SessionMessage {
  type: MessageType | (string & {});
  text: string;
  activity?: SessionActivity;
  images?: SessionImage[];
}

/** Something that happened; not part of the conversation. */
export interface SessionEvent {
  kind: string;
  tool?: string;
  text?: string;
  iteration?: number;
}

/** The last line: how the run ended. A log without one is unfinished. */
export interface SessionResult {
  /** settled, failed, iterations, calls, time, continuations, cycle, empty, unsettled, aborted, error. */
  reason: string;
  message?: string;
  error?: string;
  failure?: { status?: number; response_body?: string; request_bytes?: number };
  /** 0 only when settled. */
  code: number;
  iterations: number;
  calls: number;
  continuations: number;
  cycles: number;
  settles: number;
  inputTokens?: number;
  outputTokens?: number;
}

/** One line of a log. `at` is RFC 3339 with a fraction, UTC. */
export type SessionLine = { at: string } & (
  | { kind: 'meta'; meta: SessionMeta }
  | { kind: 'message'; message: SessionMessage }
  | { kind: 'event'; event: SessionEvent }
  | { kind: 'reset' }
  | { kind: 'result'; result: SessionResult }
);
