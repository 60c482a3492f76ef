import { createHash } from 'node:crypto';
import { closeSync, fstatSync, lstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { openRegularSync } from './scan.ts';
import type { SessionImage } from './types.ts';

/** An image past this size is treated as missing: a screenshot is a thousandth of it. 64 MiB. */
const LARGEST_IMAGE = 64 * 1024 * 1024;

const EXTENSIONS = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

/** Hex sha256 of bytes. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The folder a session's image bytes live in, beside its log. */
export function blobsFolder(dir: string, id: string): string {
  return join(dir, `${id}.blobs`);
}

/** An image's file name, `<sha256 hex>.<png|jpg|gif|webp|bin>`; null when its digest is not one, so no path can hide in it. */
export function blobName(image: Pick<SessionImage, 'digest' | 'media_type'>): string | null {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(image.digest)?.[1];
  return hex === undefined ? null : `${hex}.${EXTENSIONS.get(image.media_type) ?? 'bin'}`;
}

/** Read without a pause: five trips to the thread pool take several times as long as all the reading there is. */
function storedBytes(folder: string, name: string): Buffer | null {
  try {
    if (!lstatSync(folder).isDirectory()) return null;
    const file = openRegularSync(join(folder, name));
    try {
      const { size } = fstatSync(file);
      if (size > LARGEST_IMAGE) return null;
      // One that grows meanwhile hashes to something else.
      const bytes = Buffer.allocUnsafe(size);
      let read = 0;
      for (let more = -1; more !== 0 && read < size; read += more)
        more = readSync(file, bytes, read, size - read, read);
      return bytes.subarray(0, read);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** The bytes of an image by its file's name; null when they are missing or do not hash to it. */
export async function imageByName(dir: string, id: string, name: string): Promise<Buffer | null> {
  const hex = /^([0-9a-f]{64})\.(?:png|jpg|gif|webp|bin)$/.exec(name)?.[1];
  const bytes = hex === undefined ? null : storedBytes(blobsFolder(dir, id), name);
  return bytes && sha256(bytes) === hex ? bytes : null;
}

/**
 * An image's bytes, or null when they are missing or do not hash to its digest.
 * Never follows a link, and never reads outside the session's own blobs folder.
 */
export async function imageBytes(dir: string, id: string, image: SessionImage): Promise<Buffer | null> {
  const name = blobName(image);
  if (name === null) return null;
  const inline = image.data === undefined ? null : Buffer.from(image.data, 'base64');
  const bytes = inline ?? storedBytes(blobsFolder(dir, id), name);
  return bytes && `sha256:${sha256(bytes)}` === image.digest ? bytes : null;
}
