import { StringDecoder } from 'node:string_decoder';

/** Tokens and dollars of one exchange, as the provider counts them. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** null when the provider does not tell. */
  dollars: number | null;
}

/** A line or a body past this is not searched for usage. */
const LONGEST = 8 * 1024 * 1024;

/** A streamed event's bytes beside its text, roughly: what is above it is taken for text, four bytes a token. */
const FRAME = 200;

const count = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0);

/** Reads a provider's `usage` object; null when it is none. Both common spellings of the fields are known. */
function readUsage(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null;
  const usage = value as Record<string, unknown>;
  return {
    inputTokens: count(usage.prompt_tokens ?? usage.input_tokens),
    outputTokens: count(usage.completion_tokens ?? usage.output_tokens),
    dollars: typeof usage.cost === 'number' && Number.isFinite(usage.cost) ? Math.max(0, usage.cost) : null,
  };
}

/**
 * Reads the usage of one exchange from its response as it passes, streamed (server-sent events) or whole (JSON). Where
 * the provider tells none (a cut stream, an aborted request), `estimate` stands in, so that nothing goes uncounted.
 */
export class Meter {
  usage: Usage | null = null;
  /** Output tokens seen so far, guessed: an event is at least one. */
  estimate = 0;
  /** The error that a stream carried, as text. */
  error: string | null = null;
  /** Whether a stream said how it finished. */
  finished = false;
  readonly streams: boolean;
  readonly #decoder = new StringDecoder('utf8');
  #held = '';
  #skipping = false;

  constructor(contentType: string) {
    this.streams = /^text\/event-stream\b/i.test(contentType);
  }

  feed(chunk: Buffer): void {
    this.#held += this.#skipping && !this.streams ? '' : this.#decoder.write(chunk);
    if (this.streams) {
      let from = 0;
      for (let end = this.#held.indexOf('\n'); end !== -1; end = this.#held.indexOf('\n', from)) {
        if (!this.#skipping) this.#line(this.#held.slice(from, end));
        this.#skipping = false;
        from = end + 1;
      }
      this.#held = this.#held.slice(from);
    }
    if (this.#held.length > LONGEST) {
      this.estimate += Math.floor(this.#held.length / 4);
      this.#held = '';
      this.#skipping = true;
    }
  }

  /** The response is over. */
  end(): void {
    if (this.streams) this.#line(this.#held);
    else if (!this.#skipping) this.#take(this.#held);
    this.#held = '';
  }

  #line(text: string): void {
    if (!text.startsWith('data:')) return;
    const data = text.slice(5).trim();
    if (data === '[DONE]') {
      this.finished = true;
      return;
    }
    this.estimate += Math.max(1, Math.floor((data.length - FRAME) / 4));
    if (/"finish_reason"\s*:\s*"/.test(data)) this.finished = true;
    if (data.includes('"usage"') || data.includes('"error"')) this.#take(data);
  }

  #take(text: string): void {
    let value: { usage?: unknown; error?: unknown } | null;
    try {
      value = JSON.parse(text) as typeof value;
    } catch {
      return;
    }
    this.usage = readUsage(value?.usage) ?? this.usage;
    if (this.streams && value?.error) this.error = text;
    if (!this.streams && !this.usage) this.estimate = Math.floor(text.length / 4);
  }
}
