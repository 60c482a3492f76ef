import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
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

const WANTED = /^trajectories\/(\d{8}-\d{6}(?:-\d+)?)\/(?:\1\.jsonl|images\/[0-9a-f]{64}\.[a-z]+)$/;

async function fetched(hub: Hub, path: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const part = `${to}.part`;
  try {
    const body = Readable.fromWeb((await hub.read(path)) as NodeStream);
    await pipeline(body, createWriteStream(part, { mode: 0o600 }));
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
  for (const { path, bytes } of files) {
    const to = join(store.folder, path);
    if ((await stat(to).catch(() => null))?.size !== bytes) await fetched(hub, path, to);
  }
  return store;
}
