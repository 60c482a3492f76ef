import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

/** What a static host would say these are; anything else is bytes. */
export const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
};

export const typeOf = (path: string) => TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';

/** The parts of a path that a request may ask for; null when one of them is not a plain name (`..`, hidden, a separator). */
export function plainPath(path: string): string | null {
  const parts = path.split('/').filter((part) => part !== '');
  const plain = parts.every((part) => /^[\w-][\w .-]*$/.test(part) && !part.endsWith('.'));
  return plain ? parts.join('/') : null;
}

/** A file below a folder, links followed only where they stay inside; null when there is none. */
export async function fileBelow(folder: string, path: string): Promise<Buffer | null> {
  const plain = plainPath(path);
  if (plain === null || plain === '') return null;
  try {
    const root = await realpath(folder);
    const file = await realpath(join(root, plain));
    if (!file.startsWith(root + sep) || !(await stat(file)).isFile()) return null;
    return await readFile(file);
  } catch {
    return null;
  }
}
