import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readConversation } from './script/conversation.ts';
import { nextTurn } from './script/script.ts';
import { summarise } from './script/summary.ts';
import type { Turn } from './script/turn.ts';
import { type Completion, events, tokens, whole } from './stream.ts';

/** The one model there is. */
const MODEL = 'rehearsal';

/** A long shift with its pictures stays well below this. */
const MOST_BYTES = 256 * 1024 * 1024;

export interface Rehearsal {
  /** `http://127.0.0.1:<port>/v1` */
  baseUrl: string;
  close(): Promise<void>;
}

/**
 * Starts the rehearsal: an OpenAI-compatible endpoint on loopback that plays a scripted shift and keeps no state.
 * `POST /v1/chat/completions` (streamed or whole) and `GET /v1/models`. No key is asked for.
 */
export async function startRehearsal(options: { host?: string } = {}): Promise<Rehearsal> {
  const host = options.host ?? '127.0.0.1';
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => refuse(response, 500, (error as Error).message));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://${host}:${port}/v1`, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '').split('?')[0];
  if (request.method === 'GET' && path === '/v1/models') {
    return send(response, 200, { object: 'list', data: [{ id: MODEL, object: 'model', owned_by: 'machinery' }] });
  }
  if (path !== '/v1/chat/completions') return refuse(response, 404, `there is no ${path} here`);
  if (request.method !== 'POST') return refuse(response, 405, 'chat completions are asked for with POST');
  const text = await bodyOf(request);
  if (text === null) return refuse(response, 413, 'the conversation is too long');
  const body = parsed(text);
  if (!body || !Array.isArray(body.messages)) return refuse(response, 400, 'the body must be JSON with `messages`');
  const completion = await complete(body, text);
  if (body.stream !== true) return send(response, 200, whole(completion));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (const event of events(completion)) {
    if (response.destroyed) return;
    if (!response.write(event)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}

async function complete(body: Record<string, unknown>, text: string): Promise<Completion> {
  const conversation = readConversation(body);
  const turn: Turn = conversation.tools
    ? await nextTurn(conversation)
    : { reasoning: '', text: await summarise(conversation), calls: [] };
  // Pictures are counted as a few hundred tokens each, not as the base64 they come in.
  const prompt = tokens(text.replace(/"data:[^"]{200,}"/g, '"'.padEnd(1600)));
  const told = tokens(turn.reasoning + (turn.text ?? '') + JSON.stringify(turn.calls));
  const usage = { prompt_tokens: prompt, completion_tokens: told, total_tokens: prompt + told };
  const model = typeof body.model === 'string' ? body.model : MODEL;
  return { id: `rehearsal-${(body.messages as unknown[]).length}`, model, turn, usage };
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length > MOST_BYTES) return null;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy();
  else send(response, status, { error: { message, type: 'invalid_request_error', code: status } });
}
