import { spawn } from 'node:child_process';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A git server over HTTP on loopback: `git http-backend` behind a check of the Authorization header. */

export interface GitServer {
  /** `http://127.0.0.1:<port>/<name>` of a repository below the root. */
  url(name: string): string;
  /** The Authorization header of every request, in order; undefined where there was none. */
  seen: (string | undefined)[];
  /** Answers every request from now on with this status instead; null again serves. */
  fail(status: number | null): void;
  /** Lets requests hang unanswered. */
  hang(hanging: boolean): void;
  close(): Promise<void>;
}

/**
 * Serves the bare repositories below `root`. With `authorization` every request must carry exactly that header.
 * Pushes are allowed (`http.receivepack`).
 */
export async function gitServer(root: string, authorization?: string): Promise<GitServer> {
  const seen: (string | undefined)[] = [];
  let failing: number | null = null;
  let hanging = false;
  const server: Server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    if (hanging) return;
    if (failing !== null) {
      response.writeHead(failing).end();
      return;
    }
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const url = new URL(request.url ?? '/', 'http://x');
    const backend = spawn('git', ['-c', 'http.receivepack=true', '-c', 'safe.directory=*', 'http-backend'], {
      env: {
        PATH: process.env.PATH ?? '',
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
        HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
        REMOTE_USER: 'tester',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    request.pipe(backend.stdin);
    backend.stdin.on('error', () => {});
    let head: Buffer | null = Buffer.alloc(0);
    backend.stdout.on('data', (chunk: Buffer) => {
      if (head === null) {
        response.write(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      for (const line of head.toString('latin1', 0, end).split('\r\n')) {
        const [name = '', value = ''] = line.split(/: (.*)/s);
        if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.write(head.subarray(end + 4));
      head = null;
    });
    backend.stdout.on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    seen,
    fail: (status) => {
      failing = status;
    },
    hang: (on) => {
      hanging = on;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
