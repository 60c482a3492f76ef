import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  createServer,
  request as http,
} from 'node:http';
import { Agent as HttpsAgent, request as https } from 'node:https';
import type { AddressInfo } from 'node:net';
import { FactoryError } from '../support/errors.ts';
import { packageVersion } from '../support/self.ts';
import { capMessage, exchange, refuse } from './relay/exchange.ts';
import type { Failure } from './relay/failure.ts';
import { type Caps, Ledger, type Totals } from './relay/ledger.ts';
import type { Upstream } from './upstream.ts';

export interface RelayOptions {
  upstream: Pick<Upstream, 'baseUrl' | 'key' | 'headers'>;
  /** The token that the harness must show; made when absent. */
  token?: string;
  caps: Caps;
  /** Hears one object per exchange; never a key, a token or what was said. */
  log?: (event: object) => void;
}

export interface Relay {
  /** `http://127.0.0.1:<port>/v1` */
  baseUrl: string;
  token: string;
  usage(): Totals;
  /** The last exchange that failed, without key and images; null when none did. */
  lastFailure(): Failure | null;
  /** The cap that the run has reached, if any. */
  cap(): null | 'tokens' | 'dollars';
  /** Cuts what is on its way and stops listening. */
  close(): Promise<void>;
}

const ROUTES: Record<string, string> = {
  'POST /v1/chat/completions': '/chat/completions',
  'GET /v1/models': '/models',
};

/** Compares in constant time, whatever the lengths. */
function sameToken(shown: string, token: string): boolean {
  const [a, b] = [Buffer.alloc(256), Buffer.alloc(256)];
  a.write(shown);
  b.write(token);
  return timingSafeEqual(a, b) && shown.length === token.length;
}

function bearer(incoming: IncomingMessage): string {
  return /^Bearer\s+(\S+)\s*$/i.exec(incoming.headers.authorization ?? '')?.[1] ?? '';
}

/**
 * Opens the loopback endpoint that a harness uses instead of the provider. It holds the provider's key, accepts only
 * its own token, streams both ways without buffering, counts tokens and dollars, and cuts a run at its caps.
 * @throws FactoryError `relay/cannot-start`
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const token = options.token ?? `machinery-${randomBytes(32).toString('base64url')}`;
  const { baseUrl, key, headers = {} } = options.upstream;
  const base = new URL(baseUrl.replace(/\/+$/, ''));
  const secure = base.protocol === 'https:';
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const ledger = new Ledger(options.caps);
  let failure: Failure | null = null;
  let port = 0;

  const desk = {
    request: (path: string, given: RequestOptions) =>
      (secure ? https : http)(new URL(base.pathname.replace(/\/$/, '') + path, base), { ...given, agent }),
    headers: {
      'user-agent': `machinery/${packageVersion()}`,
      ...headers,
      ...(key ? { authorization: `Bearer ${key}` } : {}),
    },
    secrets: [...(key ? [key] : []), token],
    ledger,
    failed: (told: Failure) => {
      failure = told;
    },
    log: options.log ?? (() => {}),
  };

  const server = createServer((incoming, outgoing) => {
    incoming.on('error', () => {});
    outgoing.on('error', () => {});
    // Only by its own loopback name: a page that had its name pointed here is turned away.
    if (![`127.0.0.1:${port}`, `localhost:${port}`].includes(incoming.headers.host ?? '')) {
      return refuse(outgoing, 403, 'machinery_host', 'this endpoint answers only to its loopback address');
    }
    if (!sameToken(bearer(incoming), token)) {
      return refuse(outgoing, 401, 'machinery_token', 'this endpoint needs the token of the running shift');
    }
    const path = ROUTES[`${incoming.method} ${incoming.url?.split('?')[0]}`];
    if (path === undefined) {
      return refuse(outgoing, 404, 'machinery_route', 'only POST /v1/chat/completions and GET /v1/models are here');
    }
    const cap = ledger.cap();
    if (cap !== null) return refuse(outgoing, 402, 'machinery_cap', capMessage(cap));
    exchange(desk, path, incoming, outgoing);
  });
  // A model may think for as long as it likes; whether it is silent for too long is judged per exchange.
  server.requestTimeout = 0;

  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', done);
  }).catch((error: Error) => {
    throw new FactoryError('relay/cannot-start', {
      message: `no loopback port could be opened for the model: ${error.message}`,
      mend: 'See that 127.0.0.1 is up and that this user may open sockets.',
      cause: error,
    });
  });
  port = (server.address() as AddressInfo).port;

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    token,
    usage: () => ledger.totals(),
    lastFailure: () => failure,
    cap: () => ledger.cap(),
    close: async () => {
      const closed = new Promise<void>((done) => {
        server.close(() => done());
      });
      server.closeAllConnections();
      await closed;
      agent.destroy();
    },
  };
}
