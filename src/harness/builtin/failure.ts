import { APICallError } from '@ai-sdk/provider';

/** What is kept of a provider's answer to a request that failed. */
const KEPT_BODY = 4096;

/** The longest a provider may ask to be left alone: a mistaken header must not park a run for hours. */
const LONGEST_ADVICE_MS = 5 * 60_000;

const LONGEST_BACKOFF_MS = 30_000;

const TOO_LONG =
  /context[ _-]?(length|window)|maximum context|too many tokens|reduce the length|(prompt|input) is too long|context_length_exceeded/i;

/** A request to the model that did not bring a whole answer. */
export class ModelFailure extends Error {
  override name = 'ModelFailure';
  /** The HTTP status; absent when the connection or the stream failed. */
  readonly status: number | undefined;
  readonly body: string | undefined;
  readonly requestBytes: number | undefined;
  /** How long the provider asks to wait. */
  readonly adviceMs: number | undefined;

  constructor(told: {
    message: string;
    status?: number | undefined;
    body?: string | undefined;
    requestBytes?: number | undefined;
    adviceMs?: number | undefined;
    cause?: unknown;
  }) {
    super(told.message, { cause: told.cause });
    this.status = told.status;
    this.body = told.body?.slice(0, KEPT_BODY);
    this.requestBytes = told.requestBytes;
    this.adviceMs = told.adviceMs;
  }

  /** Whether the same request may succeed later: by its status where there is one, and always where there is none. */
  get passing(): boolean {
    if (this.status === undefined || this.status >= 500) return true;
    // A gateway tells a failure of the provider behind it as a 400 that names that provider.
    if (this.status === 400 && /"provider_name"\s*:\s*"/.test(this.body ?? '')) return true;
    return [408, 425, 429].includes(this.status);
  }

  /** Whether the conversation is longer than the model can take. */
  get tooLong(): boolean {
    if (this.status === 413) return true;
    return this.status !== 429 && TOO_LONG.test(`${this.message} ${this.body ?? ''}`);
  }
}

/** How long to wait before the n-th attempt in a row (1 is the first): 1, 2, 4… s up to 30 s, or longer if asked to. */
export function waitBefore(n: number, baseMs: number, adviceMs?: number): number {
  const backoff = Math.min(baseMs * 2 ** Math.min(n - 1, 20), LONGEST_BACKOFF_MS);
  // The backoff is a floor: `Retry-After: 0` must not become a tight loop.
  return Math.max(backoff, Math.min(adviceMs ?? 0, LONGEST_ADVICE_MS));
}

/** Reads a Retry-After header, which is seconds or a date. @returns milliseconds, or undefined when it says nothing. */
export function retryAfter(header: string | null | undefined, now = Date.now()): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Turns whatever a request threw, or an error in its stream, into a ModelFailure. */
export function asModelFailure(thrown: unknown, requestBytes?: number): ModelFailure {
  if (thrown instanceof ModelFailure) return thrown;
  if (APICallError.isInstance(thrown)) {
    const headers = thrown.responseHeaders ?? {};
    return new ModelFailure({
      message: thrown.message,
      // An answer that began well and was cut carries its 200, which says nothing of what went wrong.
      status: (thrown.statusCode ?? 0) >= 400 ? thrown.statusCode : undefined,
      body: thrown.responseBody,
      requestBytes,
      adviceMs: retryAfter(headers['retry-after']),
      cause: thrown,
    });
  }
  if (thrown instanceof Error) {
    const cause = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
    return new ModelFailure({ message: `${thrown.message}${cause}`, requestBytes, cause: thrown });
  }
  // What a provider says inside a stream that began well: `{message, code}`; the code is often the status.
  const told = (thrown ?? {}) as { message?: unknown; code?: unknown };
  const code = Number(told.code);
  return new ModelFailure({
    message: typeof told.message === 'string' ? told.message : JSON.stringify(thrown),
    status: code >= 400 && code <= 599 ? code : undefined,
    body: JSON.stringify({ error: thrown }),
    requestBytes,
    cause: thrown,
  });
}
