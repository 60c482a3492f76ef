import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { FactoryError } from '../support/errors.ts';
import { Hub } from './hub.ts';
import { DatasetStore } from './store.ts';

export interface SourceOptions {
  /** The data folder. */
  data: string;
  /** `hub:<owner>/<name>`; the local store unless given. */
  source?: string | undefined;
  endpoint?: string | undefined;
  token?: string | undefined;
  /** Whether the images are needed too. */
  images?: boolean;
}

/** Left free on the disk whatever is fetched: 256 MiB. */
const SPARE = 256 * 1024 * 1024;

const WANTED = /^trajectories\/(\d{8}-\d{6}(?:-\d+)?)\/(?:\1\.jsonl|images\/[0-9a-f]{64}\.[a-z]+)$/;

/** Lets so many bytes pass, no more and no less. */
function exactly(bytes: number, path: string): Transform {
  let left = bytes;
  const wrong = (): FactoryError =>
    new FactoryError('hub/refused', {
      message: `the hub sent another length of ${path} than it had told`,
      mend: 'Try again: what came whole is kept. When it happens again, the dataset there is not to be trusted.',
    });
  return new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      done(left < 0 ? wrong() : null, chunk);
    },
    flush: (done) => done(left === 0 ? null : wrong()),
  });
}

/** Refuses what the disk has no room for, before any of it is fetched. */
async function roomFor(bytes: number, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  if (bytes + SPARE <= bavail * bsize) return;
  throw new FactoryError('data/full', {
    message: `the rows to be fetched take ${Math.ceil(bytes / 1e6)} MB, and the disk has no room for them`,
    mend: 'Make room, or read the rows where they are kept.',
  });
}

async function fetched(hub: Hub, { path, bytes }: { path: string; bytes: number }, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const part = `${to}.part`;
  try {
    const body = Readable.fromWeb((await hub.read(path)) as NodeStream);
    await pipeline(body, exactly(bytes, path), createWriteStream(part, { mode: 0o600 }));
    await rename(part, to);
  } finally {
    await rm(part, { force: true });
  }
}

/**
 * The rows to read: the factory's own, or a dataset of the hub, copied into `<data>/cache/hub/` first. Only files that have
 * a row's place are fetched, and only those that are not there yet: a row never changes.
 */
export async function openSource({
  data,
  source,
  endpoint,
  token,
  images = false,
}: SourceOptions): Promise<DatasetStore> {
  if (source === undefined || source === 'local') return new DatasetStore(join(data, 'dataset'));
  const repo = /^hub:([\w.-]+\/[\w.-]+)$/.exec(source)?.[1];
  if (repo === undefined) {
    throw new FactoryError('usage/invalid', {
      message: `\`${source}\` is no source of rows`,
      mend: 'Give --source hub:<owner>/<name>, or leave it out for the rows of this factory.',
    });
  }
  const hub = new Hub({ repo, endpoint, token });
  const store = new DatasetStore(join(data, 'cache', 'hub', repo.replace('/', '--'), 'dataset'));
  const files = (await hub.list()).filter(({ path }) => WANTED.test(path) && (images || path.endsWith('.jsonl')));
  const missing: typeof files = [];
  for (const file of files) {
    const there = await stat(join(store.folder, file.path)).catch(() => null);
    if (there?.size !== file.bytes) missing.push(file);
  }
  const total = missing.reduce((sum, { bytes }) => sum + bytes, 0);
  if (missing.length > 0) await roomFor(total, store.folder);
  for (const file of missing) await fetched(hub, file, join(store.folder, file.path));
  return store;
}
