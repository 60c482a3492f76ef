import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3Prompt, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { AgentConfig } from './config.ts';
import { ReasoningDetails } from './details.ts';
import { asModelFailure, ModelFailure } from './failure.ts';
import { schemaOf } from './tools/index.ts';
import type { Tool } from './tools/tool.ts';

/** A turn past this many characters is cut off as the output limit would: nobody writes a machine in one call. */
const LONGEST_TURN = 2_000_000;

/** A tool call as the model sent it. */
export interface Call {
  id: string;
  name: string;
  /** The very string. */
  arguments: string;
}

/** One whole answer of the model. */
export interface Turn {
  reasoning: string;
  text: string;
  calls: Call[];
  /** Whether the output limit cut it off. */
  cut: boolean;
  /** `dollars` is 0 where the provider does not tell what it costs. */
  usage: { input: number; output: number; dollars: number };
  /** Reasoning blocks the provider wants to have back with the calls. */
  details?: unknown[];
}

/**
 * The model, over OpenAI-compatible chat completions. The SDK's `doStream` is called directly: its helpers would parse
 * the tool arguments, and the log keeps the very string.
 */
export class Model {
  readonly #at: AgentConfig['model'];
  readonly #idleMs: number;

  constructor(at: AgentConfig['model'], idleMs: number) {
    this.#at = at;
    this.#idleMs = idleMs;
  }

  /**
   * Asks for one turn.
   * @throws ModelFailure for anything but a whole answer; when `signal` is aborted, its reason.
   */
  async ask(prompt: LanguageModelV3Prompt, tools: Tool[], signal: AbortSignal): Promise<Turn> {
    const quiet = new Quiet(this.#idleMs);
    let bytes: number | undefined;
    try {
      const model = new OpenAICompatibleChatLanguageModel(this.#at.model, {
        provider: this.#at.provider,
        url: ({ path }) => `${this.#at.baseUrl.replace(/\/+$/, '')}${path}`,
        headers: () => (this.#at.token ? { authorization: `Bearer ${this.#at.token}` } : {}),
        includeUsage: true,
        fetch: async (input, init) => {
          bytes = Buffer.byteLength(String(init?.body ?? ''));
          return quiet.watch(await fetch(input, init));
        },
      });
      const { stream } = await model.doStream({
        prompt,
        tools: tools.map((one) => ({
          type: 'function' as const,
          name: one.name,
          description: one.description,
          inputSchema: schemaOf(one),
        })),
        abortSignal: AbortSignal.any([signal, quiet.signal]),
        includeRawChunks: true,
      });
      return await collect(stream);
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      throw asModelFailure(quiet.signal.aborted ? quiet.signal.reason : thrown, bytes);
    } finally {
      quiet.end();
    }
  }
}

async function collect(stream: ReadableStream<LanguageModelV3StreamPart>): Promise<Turn> {
  const turn: Turn = { reasoning: '', text: '', calls: [], cut: false, usage: { input: 0, output: 0, dollars: 0 } };
  let dollars = 0;
  const details = new ReasoningDetails();
  let finished = false;
  let length = 0;
  for await (const part of stream) {
    if (part.type === 'raw') {
      details.add(part.rawValue);
      dollars = costIn(part.rawValue) ?? dollars;
    } else if (part.type === 'error') throw part.error;
    else if (part.type === 'reasoning-delta') turn.reasoning += part.delta;
    else if (part.type === 'text-delta') turn.text += part.delta;
    else if (part.type === 'tool-call') {
      turn.calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
    } else if (part.type === 'finish') {
      finished = part.finishReason.raw !== 'error';
      turn.cut = part.finishReason.unified === 'length';
      const { inputTokens: input, outputTokens: output } = part.usage;
      turn.usage = { input: input.total ?? 0, output: output.total ?? 0, dollars };
    }
    length += 'delta' in part ? part.delta.length : 0;
    if (length > LONGEST_TURN) return { ...turn, calls: [], cut: true };
  }
  if (!finished) throw new ModelFailure({ message: 'the stream ended without a finish' });
  return { ...turn, ...(details.blocks.length > 0 ? { details: details.blocks } : {}) };
}

/** What one raw chunk of a stream says that the answer cost, in dollars: some gateways add it to the usage. */
function costIn(chunk: unknown): number | undefined {
  const cost = (chunk as { usage?: { cost?: unknown } | null } | null)?.usage?.cost;
  return typeof cost === 'number' && cost >= 0 ? cost : undefined;
}

/** Watches that a provider goes on sending: any byte counts, so that keep-alive comments do. */
class Quiet {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.#touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  watch(response: Response): Response {
    this.#touch();
    const seen = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.#touch();
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body?.pipeThrough(seen) ?? null, { status, statusText, headers });
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #touch(): void {
    clearTimeout(this.#timer);
    if (this.#controller.signal.aborted) return;
    const silent = new ModelFailure({ message: `the provider sent nothing for ${Math.round(this.#ms / 1000)} s` });
    this.#timer = setTimeout(() => this.#controller.abort(silent), this.#ms);
  }
}
