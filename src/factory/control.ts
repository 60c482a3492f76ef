import { rm } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { join, relative } from 'node:path';
import type { Logger } from 'pino';
import { asFactoryError } from '../support/errors.ts';
import type { FactoryEvent, FactoryHandle } from './types.ts';

/**
 * The factory's Unix socket in the data folder: how `machinery shift`, `status`, `pause` and `resume` reach a running
 * factory. The folder is closed to others and hidden from the agent, so whoever can open the socket is the operator.
 */

/** A socket's path may have 107 bytes on Linux; a path relative to the working folder is often shorter. */
export function socketPath(data: string): string {
  const absolute = join(data, 'control.sock');
  const near = relative(process.cwd(), absolute);
  return Buffer.byteLength(near) < Buffer.byteLength(absolute) ? near : absolute;
}

/** Lines of `POST /shift`: what happens until the shift that was asked for has ended. */
export type ShiftLine =
  | { type: 'asked'; outcome: 'started' | 'queued' | 'joined' }
  | FactoryEvent
  | { type: 'error'; code: string; message: string; mend: string };

/** Serves the socket until closed. The caller holds the lock, so a socket that is there is a dead factory's. */
export async function serveControl(
  data: string,
  factory: FactoryHandle,
  log: Logger,
): Promise<{ close: () => Promise<void> }> {
  const path = socketPath(data);
  await rm(path, { force: true });
  const server = createServer((request, response) => {
    answer(factory, request, response).catch((error: unknown) => {
      const { code, message, mend } = asFactoryError(error);
      log.warn({ code }, message);
      if (!response.headersSent) response.writeHead(503, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify({ type: 'error', code, message, mend })}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The folder is 0700 already; the socket itself is closed too.
    const umask = process.umask(0o177);
    server.listen(path, () => resolve());
    process.umask(umask);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(factory: FactoryHandle, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const by = 'the command line';
  request.resume();
  switch (`${request.method} ${request.url}`) {
    case 'GET /status':
      return json(response, factory.status());
    case 'POST /pause':
      await factory.pause(by);
      return json(response, factory.status());
    case 'POST /resume':
      await factory.resume(by);
      return json(response, factory.status());
    case 'POST /stop-shift':
      return json(response, { stopped: factory.stopShift(by) });
    case 'POST /shift':
      return followShift(factory, by, response);
    default:
      response.writeHead(404).end();
  }
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify(value)}\n`);
}

/** Asks for a shift and tells what happens until it ended; the shift of somebody else that runs before is not told. */
async function followShift(factory: FactoryHandle, by: string, response: ServerResponse): Promise<void> {
  const asked = factory.request(by);
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const tell = (line: ShiftLine) => void response.write(`${JSON.stringify(line)}\n`);
  tell({ type: 'asked', outcome: asked.outcome });
  const before = asked.outcome === 'started' ? null : (factory.status().current?.record?.id ?? null);
  const end = factory.listen((event) => {
    if (event.type === 'station' || event.type === 'activity') {
      if (event.shift !== before) tell(event);
    }
  });
  response.once('close', end);
  try {
    const record = await asked.done;
    tell({ at: new Date().toISOString(), type: 'end', shift: record.id, record });
  } catch (error) {
    const { code, message, mend } = asFactoryError(error);
    tell({ type: 'error', code, message, mend });
  } finally {
    end();
    response.end();
  }
}
