import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import { RedactStream, redactor } from '../../support/redact.ts';
import { AskUsage, GROWTH } from './ask-usage.ts';
import { type Failure, MOST_REQUEST, MOST_RESPONSE, estimateInput, withoutImages } from './failure.ts';
import type { Ledger } from './ledger.ts';
import { Meter } from './meter.ts';

/** A request past this is passed on, but not kept for the record of a failure. */
const MOST_KEPT = 64 * 1024 * 1024;

/** A provider that says nothing for this long, in milliseconds, has failed. */
const SILENCE = 10 * 60_000;

/** The provider's headers that reach the agent: what a client acts on, and nothing that could carry a secret. */
const PASSED_BACK = /^(content-type|retry-after|retry-after-ms|x-should-retry|request-id|x-request-id|x-ratelimit-.*)$/;

/** Answers with a JSON error in the form that every client of the protocol knows. */
export function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(errorBody(code, message));
}

function errorBody(code: string, message: string): string {
  return JSON.stringify({ error: { message, type: code, code } });
}

export function capMessage(cap: 'tokens' | 'dollars'): string {
  return `this shift has reached its cap of ${cap}; no further request is answered`;
}

/** What an exchange needs of the relay. */
export interface Desk {
  request: (path: string, options: RequestOptions) => ClientRequest;
  /** Headers towards the provider, its key among them. */
  headers: Record<string, string>;
  secrets: string[];
  ledger: Ledger;
  failed: (failure: Failure) => void;
  log: (event: object) => void;
}

/**
 * One exchange: passes the request to the provider and its answer back as they come, at the pace of the slower side. A
 * client that goes away ends the request to the provider too. Settled once, however it ends.
 */
export function exchange(desk: Desk, path: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const began = performance.now();
  const clean = redactor(desk.secrets);
  const kept: Buffer[] = [];
  let requestBytes = 0;
  let meter: Meter | null = null;
  let status: number | null = null;
  let answer = '';
  let settled = false;

  const body = () => Buffer.concat(kept);
  const settle = (failure: string | null) => {
    if (settled) return;
    settled = true;
    const billed = meter && (status ?? 500) < 300 ? meter : null;
    const usage = desk.ledger.settle(billed, () => estimateInput(body()));
    if (failure !== null) {
      desk.failed({
        at: new Date().toISOString(),
        status,
        message: clean(failure),
        requestBytes,
        request: clean(withoutImages(body())).slice(0, MOST_REQUEST),
        response: clean(answer).slice(0, MOST_RESPONSE),
      });
    }
    const ms = Math.round(performance.now() - began);
    desk.log({
      event: 'exchange',
      status,
      ms,
      requestBytes,
      ...usage,
      ...(failure ? { failure: clean(failure) } : {}),
    });
  };

  const length = Number(incoming.headers['content-length']);
  const posts = incoming.method === 'POST';
  const upstream = desk.request(path, {
    method: incoming.method ?? 'GET',
    headers: {
      ...desk.headers,
      accept: incoming.headers.accept ?? '*/*',
      'accept-encoding': 'identity',
      ...(posts ? { 'content-type': incoming.headers['content-type'] ?? 'application/json' } : {}),
      ...(posts && Number.isFinite(length) ? { 'content-length': String(length + GROWTH) } : {}),
    },
  });
  upstream.setTimeout(SILENCE, () => upstream.destroy(new Error('the provider said nothing for ten minutes')));

  if (posts) {
    incoming.on('data', (chunk: Buffer) => {
      requestBytes += chunk.length;
      if (requestBytes <= MOST_KEPT) kept.push(chunk);
      else kept.length = 0;
    });
    incoming.pipe(new AskUsage()).pipe(upstream);
  } else upstream.end();

  outgoing.once('close', () => {
    if (settled) return;
    // The client went away. What it asked was asked: it is counted, by an estimate.
    meter ??= new Meter('');
    status ??= 200;
    settle(null);
    upstream.destroy();
  });

  upstream.on('error', (error: NodeJS.ErrnoException) => {
    const told = `the provider could not be reached: ${error.code ?? error.message}`;
    settle(told);
    refuse(outgoing, 502, 'machinery_unreachable', told);
  });

  upstream.on('response', (response) => {
    status = response.statusCode ?? 502;
    if (status >= 300 && status < 400) {
      const told = `the provider answered with a redirect (${status}), which is not followed: its address must be exact`;
      settle(told);
      refuse(outgoing, 502, 'machinery_redirect', told);
      response.resume();
      return;
    }
    pass(response, status);
  });

  function pass(response: IncomingMessage, code: number): void {
    const counted = new Meter(response.headers['content-type'] ?? '');
    meter = counted;
    desk.ledger.begin(counted);
    const headers = Object.entries(response.headers).flatMap(([name, value]) =>
      PASSED_BACK.test(name) && typeof value === 'string' ? [[name, clean(value)] as const] : [],
    );
    outgoing.writeHead(code, Object.fromEntries(headers));
    outgoing.flushHeaders();
    const redacted = new RedactStream(desk.secrets);
    redacted.pipe(outgoing);
    let cut = false;

    response.on('data', (chunk: Buffer) => {
      if (cut) return;
      counted.feed(chunk);
      if (code >= 300 && answer.length < MOST_RESPONSE) answer += chunk.toString('utf8');
      const cap = counted.streams && !counted.finished ? desk.ledger.cap() : null;
      if (cap !== null) {
        cut = true;
        settle(capMessage(cap));
        redacted.end(`\n\ndata: ${errorBody('machinery_cap', capMessage(cap))}\n\n`);
        upstream.destroy();
      } else if (!redacted.write(chunk)) {
        response.pause();
        redacted.once('drain', () => response.resume());
      }
    });
    response.on('end', () => {
      if (cut) return;
      counted.end();
      if (counted.error) answer = counted.error;
      if (code >= 300) settle(`the provider answered ${code}`);
      else if (counted.error) settle('the provider sent an error in its stream');
      else if (counted.streams && !counted.finished) settle('the stream ended without a finish');
      else settle(null);
      redacted.end();
    });
    response.on('error', (error: NodeJS.ErrnoException) => {
      if (cut) return;
      settle(`the provider's answer was cut: ${error.code ?? error.message}`);
      // Passed on as it is: a client must see that the answer is not whole.
      outgoing.destroy();
    });
  }
}
