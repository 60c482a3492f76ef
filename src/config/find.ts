import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** factory.yaml in a folder or the nearest one above it; null when there is none. */
export function findConfig(cwd: string, env: NodeJS.ProcessEnv = process.env): string | null {
  if (env.MACHINERY_CONFIG) return resolve(cwd, env.MACHINERY_CONFIG);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, 'factory.yaml');
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return null;
  }
}
