import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder this package is installed in; the same from src/ and from dist/. */
export const PACKAGE_ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The built command line, `dist/cli/main.js`: what child processes of ours are started from. */
export const MAIN = join(PACKAGE_ROOT, 'dist', 'cli', 'main.js');

/** Folders to put on an agent's PATH: `machinery` itself, then `prettier` and `htmlhint`, then this Node. */
export function toolFolders(): string[] {
  const folders = [
    join(PACKAGE_ROOT, 'dist', 'bin'),
    join(PACKAGE_ROOT, 'node_modules', '.bin'),
    dirname(process.execPath),
  ];
  return folders.filter((folder) => existsSync(folder));
}

/** This package's version, from its package.json. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}
