import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A scripted, OpenAI-compatible provider on loopback, so that a test drives a real harness over real HTTP.
 *
 *   const provider = await startProvider([
 *     { reasoning: 'first a look', calls: [{ name: 'list', arguments: { path: '.' } }] },
 *     { status: 429, headers: { 'retry-after': '2' } },
 *     { text: 'half an ans', cut: true },
 *     (request) => ({ text: `you sent ${request.body.messages.length} messages` }),
 *     settle('done'),
 *   ]);
 *
 * One reply is played per request to `/v1/chat/completions`, in order. Each reply may say:
 *
 *   reasoning, text, calls   what the assistant streams, in that order, in small pieces
 *   usage, cost              what the last chunk reports (10 in, 5 out by default; null: nothing)
 *   finish                   the finish reason (by default `tool_calls` or `stop`; null: the stream ends without one)
 *   status, headers, body    an error instead of a stream (or more headers on a stream)
 *   delayMs                  wait before the first byte
 *   cut                      drop the connection after what was streamed, before the finish
 *   silent                   stream what there is, then say nothing until the client goes away
 *   raw                      these very bytes as the stream
 *
 * A request past the end of the script plays `options.after`, or else is answered 400, which no harness tries again.
 */
export interface Reply {
  reasoning?: string;
  text?: string;
  /** Arguments given as an object are sent as JSON; a string is sent as it is, also when it is not JSON. */
  calls?: { name: string; arguments: unknown; id?: string }[];
  usage?: { input: number; output: number; cost?: number } | null;
  finish?: string | null;
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  delayMs?: number;
  cut?: boolean;
  silent?: boolean;
  raw?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a request is whatever the harness sent; the test says what it expects of it.
type Json = any;

export interface ChatRequest {
  headers: IncomingMessage['headers'];
  /** The parsed body: `{model, messages, tools, stream, …}`. */
  body: Json;
  /** Milliseconds since the epoch when it had arrived whole. */
  at: number;
}

export type Script = (Reply | ((request: ChatRequest) => Reply | Promise<Reply>))[];

export interface ScriptedProvider {
  /** `http://127.0.0.1:<port>/v1` */
  baseUrl: string;
  /** What was asked so far. */
  requests: ChatRequest[];
  /** Resolves when the n-th request (1 is the first) has arrived whole. */
  request(n: number): Promise<ChatRequest>;
  close(): Promise<void>;
}

/** The reply that ends a run well. */
export const settle = (summary = 'It is done.'): Reply => ({ calls: [{ name: 'success', arguments: { summary } }] });

/** One tool call. */
export const call = (name: string, args: unknown, more: Reply = {}): Reply => ({
  ...more,
  calls: [{ name, arguments: args }],
});

const pieces = (text: string): string[] => text.match(/[\s\S]{1,7}/g) ?? [];

function chunksOf(reply: Reply, n: number): unknown[] {
  const id = `chatcmpl-${n}`;
  const chunk = (delta: unknown, finish: string | null = null) => ({
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const chunks: unknown[] = [chunk({ role: 'assistant', content: '' })];
  for (const piece of pieces(reply.reasoning ?? '')) chunks.push(chunk({ reasoning: piece }));
  for (const piece of pieces(reply.text ?? '')) chunks.push(chunk({ content: piece }));
  for (const [index, { name, id: callId, arguments: args }] of (reply.calls ?? []).entries()) {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const head = { index, id: callId ?? `call_${n}_${index + 1}`, type: 'function', function: { name, arguments: '' } };
    chunks.push(chunk({ tool_calls: [head] }));
    for (const piece of pieces(text)) chunks.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  if (reply.cut || reply.silent) return chunks;
  const finish = reply.finish === undefined ? (reply.calls?.length ? 'tool_calls' : 'stop') : reply.finish;
  if (finish === null) return chunks;
  chunks.push(chunk({}, finish));
  const usage = reply.usage === undefined ? { input: 10, output: 5 } : reply.usage;
  if (usage) {
    const { input, output, cost } = usage;
    const told = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    chunks.push({ ...chunk({}), choices: [], usage: { ...told, ...(cost === undefined ? {} : { cost }) } });
  }
  return chunks;
}

async function play(reply: Reply, n: number, response: ServerResponse): Promise<void> {
  if (reply.delayMs) await sleep(reply.delayMs);
  if (response.destroyed) return;
  if (reply.status !== undefined && reply.status !== 200) {
    const body = reply.body ?? { error: { message: `scripted ${reply.status}`, type: 'scripted', code: reply.status } };
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers });
  if (reply.raw !== undefined) response.write(reply.raw);
  else for (const chunk of chunksOf(reply, n)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  // Flushed before the cut, so that the client has seen the half that was sent.
  if (reply.cut) response.write(': cut\n\n', () => setImmediate(() => response.destroy()));
  else if (!reply.silent) response.end(reply.raw === undefined && reply.finish !== null ? 'data: [DONE]\n\n' : '');
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8') || 'null');
}

/** Starts a provider that plays a script. @param options.token when given, any other bearer token is answered 401. */
export async function startProvider(
  script: Script,
  options: { token?: string; after?: Reply } = {},
): Promise<ScriptedProvider> {
  const requests: ChatRequest[] = [];
  const waiting: { n: number; resolve: (request: ChatRequest) => void }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    try {
      if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`) {
        request.resume();
        return await play({ status: 401 }, 0, response);
      }
      if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
        request.resume();
        return await play({ status: 404 }, 0, response);
      }
      const asked: ChatRequest = { headers: request.headers, body: await bodyOf(request), at: Date.now() };
      const n = requests.push(asked);
      for (const { resolve } of waiting.filter((one) => one.n === n)) resolve(asked);
      const end: Reply = { status: 400, body: { error: { message: `the script has ${script.length} replies` } } };
      const next = script[n - 1] ?? options.after ?? end;
      await play(typeof next === 'function' ? await next(asked) : next, n, response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    request: (n) => {
      const there = requests[n - 1];
      return there ? Promise.resolve(there) : new Promise((resolve) => waiting.push({ n, resolve }));
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
