import { createHash } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A hub on loopback that speaks the real one's endpoints, as far as its own client uses them, and can be made to fail. */

export type Route = 'create' | 'paths-info' | 'preupload' | 'lfs-batch' | 'lfs-put' | 'commit' | 'tree' | 'resolve';
export type Fault = { status: number; headers?: Record<string, string> } | 'cut' | 'cut-after';

export const TOKEN = 'hf_loopbackLOOPBACKloopback';

interface Stored {
  bytes: Buffer;
  lfs: boolean;
}

const hash = (kind: string, ...parts: (string | Buffer)[]) =>
  parts.reduce((sum, part) => sum.update(part), createHash(kind)).digest('hex');

export class HubServer {
  readonly files = new Map<string, Stored>();
  readonly commits: { title: string; paths: string[] }[] = [];
  readonly requests: Route[] = [];
  readonly faults = new Map<Route, Fault[]>();
  /** Where a request for a file is redirected to, or the next page of a list is said to be. */
  elsewhere: { redirect?: string; next?: string } = {};
  /** Lengths that the list of files tells in place of the true ones. */
  readonly lengths = new Map<string, number>();
  repo: string | null = null;
  private = false;
  /** Files with these endings go to LFS; the rest travel in the commit. */
  lfs = /\.(png|parquet)$/;
  readonly #lfs = new Map<string, Buffer>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });

  static async start(): Promise<HubServer> {
    const hub = new HubServer();
    await new Promise<void>((resolve) => hub.#server.listen(0, '127.0.0.1', resolve));
    return hub;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  fail(route: Route, ...faults: Fault[]): void {
    this.faults.set(route, faults);
  }

  text(path: string): string | undefined {
    return this.files.get(path)?.bytes.toString();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://hub');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const route = routeOf(pathname);
    if (route === null) return void response.writeHead(404).end();
    this.requests.push(route);
    const fault = this.faults.get(route)?.shift();
    if (fault === 'cut') return void request.socket.destroy();
    if (typeof fault === 'object') {
      return json(response, { error: `fault ${fault.status}` }, fault.status, fault.headers);
    }
    if (route !== 'lfs-put' && request.headers.authorization !== `Bearer ${TOKEN}`) {
      return json(response, { error: 'Invalid credentials' }, 401);
    }
    const [status, answer] = this.#act(route, pathname, body);
    // The work is done but its answer is lost, as when the line drops at the worst moment.
    if (fault === 'cut-after') return void request.socket.destroy();
    if (route === 'resolve' && this.elsewhere.redirect) {
      return void response.writeHead(302, { Location: this.elsewhere.redirect }).end();
    }
    if (Buffer.isBuffer(answer)) {
      const first = request.headers.range === 'bytes=0-0';
      const range = { 'Content-Range': `bytes 0-${first ? 0 : answer.length - 1}/${answer.length}`, ETag: '"e"' };
      return void response.writeHead(206, range).end(first ? answer.subarray(0, 1) : answer);
    }
    const { next } = this.elsewhere;
    json(response, answer, status, route === 'tree' && next ? { Link: `<${next}>; rel="next"` } : {});
  }

  #act(route: Route, pathname: string, body: Buffer): [number, unknown] {
    if (route === 'create') {
      const { name, organization, type, visibility } = JSON.parse(body.toString());
      const id = `${organization}/${name}`;
      if (this.repo === id) return [409, { error: 'You already created this dataset repo' }];
      this.repo = type === 'dataset' ? id : null;
      this.private = visibility === 'private';
      return [200, { url: `${this.endpoint}/datasets/${id}`, id }];
    }
    if (route === 'lfs-put') {
      const oid = pathname.split('/').at(-1) as string;
      if (hash('sha256', body) !== oid) return [400, { error: 'the bytes do not hash to their name' }];
      this.#lfs.set(oid, body);
      return [200, {}];
    }
    if (this.repo === null || !pathname.includes(this.repo)) return [404, { error: 'Repository not found' }];
    if (route === 'paths-info')
      return [200, (JSON.parse(body.toString()).paths as string[]).flatMap((path) => this.#info(path))];
    if (route === 'tree') return [200, [...this.files.keys()].flatMap((path) => this.#info(path))];
    if (route === 'resolve') {
      const file = this.files.get(decodeURIComponent(pathname.split('/resolve/main/')[1] ?? ''));
      return file ? [200, file.bytes] : [404, { error: 'Entry not found' }];
    }
    if (route === 'preupload') {
      const { files } = JSON.parse(body.toString()) as { files: { path: string }[] };
      const mode = (path: string) => (this.lfs.test(path) ? 'lfs' : 'regular');
      return [200, { files: files.map(({ path }) => ({ path, uploadMode: mode(path), shouldIgnore: false })) }];
    }
    if (route === 'lfs-batch') {
      const { objects } = JSON.parse(body.toString()) as { objects: { oid: string; size: number }[] };
      const upload = (oid: string) => ({
        actions: { upload: { href: `${this.endpoint}/lfs/${oid}?X-Amz-Signature=signed` } },
      });
      return [
        200,
        {
          transfer: 'basic',
          objects: objects.map((each) => ({ ...each, ...(this.#lfs.has(each.oid) ? {} : upload(each.oid)) })),
        },
      ];
    }
    return this.#commit(body);
  }

  #commit(body: Buffer): [number, unknown] {
    const lines = body
      .toString()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string; value: Record<string, string> });
    const paths: string[] = [];
    for (const { key, value } of lines) {
      if (key === 'header') continue;
      const path = value.path as string;
      const bytes = key === 'lfsFile' ? this.#lfs.get(value.oid as string) : Buffer.from(value.content ?? '', 'base64');
      if (!bytes) return [400, { error: `LFS pointer pointed to a file that does not exist: ${path}` }];
      this.files.set(path, { bytes, lfs: key === 'lfsFile' });
      paths.push(path);
    }
    this.commits.push({ title: lines[0]?.value.summary ?? '', paths: paths.sort() });
    const oid = hash('sha1', String(this.commits.length));
    return [200, { commitOid: oid, commitUrl: `${this.endpoint}/commit/${oid}`, hookOutput: '' }];
  }

  #info(path: string): object[] {
    const file = this.files.get(path);
    if (!file) return [];
    const size = this.lengths.get(path) ?? file.bytes.length;
    const oid = hash('sha1', `blob ${size}\0`, file.bytes);
    const lfs = file.lfs ? { lfs: { oid: hash('sha256', file.bytes), size, pointerSize: 130 } } : {};
    return [{ type: 'file', path, size, oid, ...lfs }];
  }
}

function routeOf(pathname: string): Route | null {
  if (pathname === '/api/repos/create') return 'create';
  if (pathname.startsWith('/lfs/')) return 'lfs-put';
  if (pathname.endsWith('.git/info/lfs/objects/batch')) return 'lfs-batch';
  if (pathname.includes('/resolve/main/')) return 'resolve';
  return (
    (/^\/api\/datasets\/[^/]+\/[^/]+\/(paths-info|preupload|commit|tree)\/main/.exec(pathname)?.[1] as Route) ?? null
  );
}

function json(response: ServerResponse, value: unknown, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));
}
