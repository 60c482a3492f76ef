import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ToolFailure, type ToolContext } from './tool.ts';

/** A file past this many bytes is not read whole. 16 MiB: a machine's largest is a hundredth of it. */
const LARGEST_FILE = 16 * 1024 * 1024;

/** Where a path of the model's is: relative ones are below the checkout. */
export function located(path: string, context: Pick<ToolContext, 'checkout'>): string {
  if (path.includes('\0')) throw new ToolFailure('a path cannot hold a NUL character');
  return resolve(context.checkout, path);
}

function within(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`));
}

/** The real path of something that may not exist yet: the nearest parent that does is resolved, the rest is as written. */
async function realPlace(path: string): Promise<string> {
  // A dangling link exists for lstat but not for realpath: where it points is where a write would go.
  const there = await lstat(path).catch(() => null);
  if (there) {
    return realpath(path).catch(() => {
      throw new ToolFailure(`${path} is a symbolic link that leads nowhere; remove it first`);
    });
  }
  const parent = dirname(path);
  return parent === path ? path : join(await realPlace(parent), basename(path));
}

/**
 * Where a path of the model's may be written: inside the checkout, or the folder for temporary files, links resolved.
 * Confinement guards the rest of the system; this guards the checkout's neighbours where there is none.
 */
export async function writable(path: string, context: Pick<ToolContext, 'checkout' | 'temp'>): Promise<string> {
  const place = await realPlace(located(path, context));
  if (within(context.checkout, place) || within(context.temp, place)) return place;
  throw new ToolFailure(
    `${path} is outside the checkout: write below ${context.checkout}, or below ${context.temp} for scratch files`,
  );
}

/** Opens a regular file; a pipe or a device would hold the run up for ever. */
export async function openFile(path: string, flags: number, told: string): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NONBLOCK, 0o644);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new ToolFailure(`${told} is not a regular file`);
}

/** A file's bytes, refused past 16 MiB. */
export async function contentOf(path: string, told: string): Promise<Buffer> {
  const handle = await openFile(path, constants.O_RDONLY, told);
  try {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of handle.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 })) {
      size += (part as Buffer).length;
      if (size > LARGEST_FILE) throw new ToolFailure(`${told} is larger than 16 MiB; look at parts of it with shell`);
      parts.push(part as Buffer);
    }
    return Buffer.concat(parts);
  } finally {
    await handle.close();
  }
}
