import { join } from 'node:path';
import { Line, type LineOptions } from '../../src/line/line.ts';
import {
  type TestOrigin,
  catalogueOf,
  machineFiles,
  makeOrigin,
  temporaryFolder,
  writeAll,
} from '../helpers/origin.ts';

export interface Bench {
  folder: string;
  checkout: string;
  gitDir: string;
  origin: TestOrigin;
  options: LineOptions;
  open(more?: Partial<LineOptions>): Promise<Line>;
  remove(): void;
}

/** A temporary factory: an origin, and a line that is opened against it. */
export function bench(kind: 'bare' | 'checkout' = 'bare'): Bench {
  const { folder, remove } = temporaryFolder();
  const origin = makeOrigin(folder, kind);
  const options: LineOptions = {
    gitDir: join(folder, 'data', 'line.git'),
    checkout: join(folder, 'data', 'checkout'),
    origin: origin.path,
    branch: 'main',
    factory: 'factory-one',
    author: { name: 'Machinery', email: 'machinery@example.invalid' },
  };
  return {
    folder,
    checkout: options.checkout,
    gitDir: options.gitDir,
    origin,
    options,
    open: (more = {}) => Line.open({ ...options, ...more }),
    remove,
  };
}

/** Does in the checkout what an agent does: a machine's four files, and its entry last. */
export function build(checkout: string, slug: string, ...earlier: string[]): void {
  writeAll(checkout, { ...machineFiles(slug), 'site/machines.json': catalogueOf(...earlier, slug) });
}

export const SHIFT = '20260102-030405';
export const SESSION = '20260102-030407';
