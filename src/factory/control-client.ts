import { existsSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { FactoryError } from '../support/errors.ts';
import { type ShiftLine, socketPath } from './control.ts';
import type { FactoryStatus } from './types.ts';

function call(data: string, method: string, path: string, signal?: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const where = { socketPath: socketPath(data), method, path, headers: { host: 'factory' } };
    const request = httpRequest({ ...where, ...(signal ? { signal } : {}) }, resolve);
    request.once('error', (error) => reject(unreachable(data, error)));
    request.end();
  });
}

const unreachable = (data: string, cause?: unknown) =>
  new FactoryError('factory/unreachable', {
    message: `no factory runs on ${data}`,
    mend: 'Start one: machinery start.',
    ...(cause === undefined ? {} : { cause }),
  });

/** Whether a factory answers on a data folder. */
export async function factoryRuns(data: string): Promise<boolean> {
  if (!existsSync(join(data, 'control.sock'))) return false;
  return call(data, 'GET', '/status').then(
    (response) => {
      response.resume();
      return response.statusCode === 200;
    },
    () => false,
  );
}

/** Asks a running factory; `signal` ends the waiting for its answer. @throws FactoryError `factory/unreachable`. */
export async function askFactory<Answer = FactoryStatus>(
  data: string,
  method: 'GET' | 'POST',
  path: string,
  signal?: AbortSignal,
): Promise<Answer> {
  return JSON.parse(await text(await call(data, method, path, signal))) as Answer;
}

/** Asks a running factory for a shift and yields what it tells until that shift has ended. */
export async function* followShift(data: string): AsyncGenerator<ShiftLine> {
  const response = await call(data, 'POST', '/shift');
  for await (const line of createInterface({ input: response })) yield JSON.parse(line) as ShiftLine;
}
