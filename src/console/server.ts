import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Config } from '../config/load.ts';
import { DatasetStore } from '../dataset/store.ts';
import type { FactoryHandle } from '../factory/types.ts';
import { FactoryError, asFactoryError } from '../support/errors.ts';
import { ActLog } from './act-log.ts';
import { AlarmBook } from './alarms.ts';
import { acts } from './api/acts.ts';
import { reads } from './api/reads.ts';
import { signIn } from './api/sign-in.ts';
import { fromHere } from './guard/acts.ts';
import { ownHeaders } from './guard/headers.ts';
import { hostCheck, isLoopback } from './guard/hosts.ts';
import { GuessLimit } from './guard/limit.ts';
import { needToken, whoAsks } from './guard/who.ts';
import { openLineDesk } from './line-desk.ts';
import { notFound } from './frame.ts';
import { pages } from './pages.ts';
import { Pulse } from './pulse.ts';
import { refused } from './refused.ts';
import type { Examination, Room, RoomEnv } from './room.ts';
import { shelf } from './shelf.ts';
import { ShiftBook } from './shift-book.ts';
import { consoleToken } from './token.ts';

export type { Examination } from './room.ts';

export interface ConsoleOptions {
  config: Config;
  factory: FactoryHandle;
  /** More addresses (`/healthz`, `/readyz`, `/metrics`); the first two are asked without a token. */
  mount?: Hono;
  /** What the doctor's page shows. */
  examine?: () => Promise<Examination[]>;
}

export interface RunningConsole {
  /** Where it is, as a person would type it. */
  url: string;
  close(): Promise<void>;
}

/** An act's body is a few words. */
const LARGEST_BODY = 16 * 1024;

/** Opens the control room. @throws FactoryError `console/cannot-start`, `console/token`. */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { config, factory } = options;
  const closing = new AbortController();
  const pulse = new Pulse(factory);
  const room: Room = {
    config,
    factory,
    token: await consoleToken(config),
    local: isLoopback(config.console.host),
    book: new ShiftBook(config.data),
    store: new DatasetStore(join(config.data, 'dataset')),
    alarms: new AlarmBook(config.data),
    acts: new ActLog(config.data),
    pulse,
    guesses: new GuessLimit(),
    shipping: { busy: false },
    line: openLineDesk(config),
    examine: options.examine ?? null,
    closing: closing.signal,
  };
  const server = await listen(consoleApp(room, options.mount), config.console).catch((error: unknown) => {
    pulse.close();
    throw error;
  });
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | null = null;
  return {
    url: `http://${shownHost(config.console.host)}:${port}`,
    close() {
      closed ??= new Promise((resolve) => {
        closing.abort();
        pulse.close();
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
      return closed;
    },
  };
}

/** The console as an app: who may ask is settled first, in the order in which it is read here. */
export function consoleApp(room: Room, mount?: Hono): Hono<RoomEnv> {
  const app = new Hono<RoomEnv>();
  const { console: settings } = room.config;
  const answersTo = hostCheck(settings);
  app.use(ownHeaders);
  app.use((c, next) => (answersTo(c.req.header('host')) ? next() : Promise.resolve(refused(c, 403, 'foreign-host'))));
  app.use(whoAsks(room));
  app.use('/api/*', fromHere(settings.public_url));
  app.use(needToken(room));
  app.use('/api/*', bodyLimit({ maxSize: LARGEST_BODY, onError: (c) => refused(c, 413, 'bad-json') }));

  app.route('/api', signIn(room));
  app.route('/api', acts(room));
  app.route('/api', reads(room));
  app.route(
    '/shelf',
    shelf(room, (c, told) => notFound(room, c, told)),
  );
  app.route('/', pages(room));
  if (mount) app.route('/', mount as unknown as Hono<RoomEnv>);

  app.notFound((c) => (c.req.path.startsWith('/api/') ? refused(c, 404, 'not-found') : notFound(room, c)));
  app.onError((thrown, c) => {
    const { code, message, mend } = asFactoryError(thrown);
    return refused(c, 500, 'trouble', { code, message, mend });
  });
  return app;
}

const shownHost = (host: string) =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;

async function listen(app: Hono<RoomEnv>, { host, port }: Config['console']): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port, overrideGlobalObjects: false }, () =>
      resolve(server),
    );
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(
        new FactoryError('console/cannot-start', {
          message: `the control room cannot listen on ${host}:${port}: ${taken ? 'the port is taken' : error.message}`,
          mend: 'Set console.port (or console.host) to an address that is free; 0 takes any free port.',
          data: { host, port },
          cause: error,
        }),
      );
    });
  });
}
