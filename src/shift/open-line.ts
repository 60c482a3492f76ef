import { join } from 'node:path';
import { secretOf } from '../config/load.ts';
import { Line, type LineOptions } from '../line/line.ts';
import type { Context } from './station.ts';

/** The line of this factory, as its configuration says. */
export function openLine(of: Pick<Context, 'config' | 'factory'>): Promise<Line> {
  return Line.open(lineOptions(of));
}

export function lineOptions({ config, factory }: Pick<Context, 'config' | 'factory'>): LineOptions {
  const token = secretOf(config, 'MACHINERY_GIT_TOKEN');
  return {
    gitDir: join(config.data, 'line.git'),
    checkout: join(config.data, 'checkout'),
    origin: config.origin,
    branch: config.branch,
    factory,
    author: config.git,
    secrets: config.secrets.map(({ value }) => value),
    liveMs: config.time_limit,
    ...(token === undefined ? {} : { token }),
  };
}
