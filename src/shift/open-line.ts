import { join } from 'node:path';
import { secretOf } from '../config/load.ts';
import { Line } from '../line/line.ts';
import type { Context } from './station.ts';

/** The line of this factory, as its configuration says. */
export function openLine({ config, factory }: Pick<Context, 'config' | 'factory'>): Promise<Line> {
  const token = secretOf(config, 'MACHINERY_GIT_TOKEN');
  return Line.open({
    gitDir: join(config.data, 'line.git'),
    checkout: join(config.data, 'checkout'),
    origin: config.origin,
    branch: config.branch,
    factory,
    author: config.git,
    secrets: config.secrets.map(({ value }) => value),
    liveMs: config.time_limit,
    ...(token === undefined ? {} : { token }),
  });
}
