import { once } from 'node:events';
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Heard {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Listener {
  address: string;
  heard: Heard[];
  close(): Promise<void>;
}

/** An HTTP server on loopback that notes what it hears and answers as told, the nth request with `answer(request, n)` from 0. */
export async function listener(
  answer: (request: Heard, n: number) => { status: number; headers?: Record<string, string>; body?: string },
): Promise<Listener> {
  const heard: Heard[] = [];
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = '', url: path = '', headers } = request;
    const told = { method, path, headers, body: Buffer.concat(parts).toString() };
    heard.push(told);
    const { status, headers: more, body } = answer(told, heard.length - 1);
    response.writeHead(status, more).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
