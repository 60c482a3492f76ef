import type { SessionResult } from '../session/types.ts';
import type { Looked, MachineryBlock } from './machinery.ts';

interface ToolCall {
  id: string;
  type: 'function';
  function: {
    name: string;
    /** The JSON string the model sent, verbatim. */
    arguments: string;
  };
}

/** `image` is a path relative to the row's folder, `images/<sha256 hex>.<ext>`. */
type ContentPart = { type: 'text'; text: string } | { type: 'image'; image: string };

/** One message of a trajectory: OpenAI's chat convention with `type` and `reasoning` added. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** The session message's own type. */
  type: string;
  content: string | ContentPart[];
  reasoning?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  name?: string;
}

/** A whole row, in key order; docs/formats.md, section 4. */
export interface Row {
  id: string;
  chain: string[];
  task: string;
  model: string;
  provider: string;
  driver: string;
  workdir?: string;
  started: string;
  ended: string;
  outcome?: SessionResult;
  complete: boolean;
  truncated?: true;
  messages: ChatMessage[];
  snapshots?: ChatMessage[][];
  images?: string[];
  events?: Record<string, number>;
  machinery?: MachineryBlock;
}

/** What is known of a trajectory without opening it. */
export interface TrajectoryFacts {
  id: string;
  /** Oldest first, ending in `id`. */
  chain: string[];
  task: string;
  model: string;
  provider: string;
  driver: string;
  workdir?: string;
  /** RFC 3339, as recorded; '' when the logs have no time. */
  started: string;
  ended: string;
  /** The result's reason; '' when there is none. */
  outcome: string;
  result?: SessionResult;
  complete: boolean;
  truncated: boolean;
  /** Relative paths, in order of first appearance. */
  images: string[];
  /** Events by kind over the whole chain. */
  events: Record<string, number>;
  counts: {
    /** Messages of the final conversation. */
    messages: number;
    /** Superseded conversations. */
    snapshots: number;
    /** Tool calls in the final conversation. */
    calls: number;
    images: number;
  };
  looked: Looked;
}
