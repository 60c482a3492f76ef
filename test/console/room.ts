import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/load.ts';
import { type ConsoleOptions, startConsole } from '../../src/console/server.ts';
import type { workShift } from '../../src/shift/shift.ts';
import { temporaryFolder, writeAll } from '../helpers/origin.ts';
import { type SmallFactory, smallFactory } from '../helpers/small-factory.ts';

export const TOKEN = 'a-console-token-for-tests';

/** A console over a factory that works no real shift unless told to, on a folder with a small site. */
export interface TestRoom {
  url: string;
  port: number;
  config: Config;
  factory: SmallFactory;
  ask(path: string, how?: Asking): Promise<Answer>;
  /** An act as a program does it. */
  act(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

export interface Asking {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into, and a test fails where it is not what it should be
  json(): any;
}

/** A plain request: what is given is what is sent, also a Host or an Origin that fetch would not let through. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json: () => JSON.parse(text) });
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

const SITE = {
  'site/index.html':
    '<!doctype html><html lang="en"><head><title>Shelf</title></head><body><main><h1>Shelf</h1></main></body></html>',
  'site/machines.json': '[]\n',
  'secret.txt': 'not for visitors',
};

export async function openRoom(
  flags: Record<string, unknown> = {},
  more: Partial<ConsoleOptions> & {
    work?: typeof workShift;
    files?: Record<string, string>;
    env?: NodeJS.ProcessEnv;
  } = {},
): Promise<TestRoom> {
  const { folder, remove } = temporaryFolder();
  writeAll(folder, { 'factory.yaml': 'origin: .\n', ...SITE, ...more.files });
  mkdirSync(join(folder, '.machinery'), { mode: 0o700 });
  const config = await loadConfig({
    cwd: folder,
    env: { PATH: process.env.PATH, MACHINERY_CONSOLE_TOKEN: TOKEN, ...more.env },
    flags: { 'console.port': 0, ...flags },
  });
  const factory = smallFactory(config, more.work);
  const { work: _, files: __, env: ___, ...options } = more;
  const running = await startConsole({ config, factory, ...options });
  const port = Number(new URL(running.url).port);
  return {
    url: running.url,
    port,
    config,
    factory,
    ask: (path, how) => ask(port, path, how),
    act: (path, body = {}, headers = {}) =>
      ask(port, path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers },
      }),
    async close() {
      await running.close();
      remove();
    },
  };
}

/** Writes a shift's log, a line an entry. */
export function writeLog(data: string, shift: string, entries: object[]): void {
  const folder = join(data, 'shifts', shift);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'log.ndjson'), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}
