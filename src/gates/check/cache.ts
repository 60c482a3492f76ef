import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../finding.ts';

/**
 * Verdicts by content: one small file for each, named by a hash of everything the verdict depends on, so that nothing in it
 * can be stale and a broken one is as good as none. Writers never meet: a verdict is renamed into its place.
 */
export interface Cache {
  read(key: string): Finding[] | null;
  write(key: string, findings: readonly Finding[]): void;
}

/** Opens a cache folder. One that cannot be made or written simply never remembers anything. */
export function openCache(folder: string): Cache {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return { read: () => null, write: () => {} };
  }
  let writable = true;
  return {
    read: (key) => {
      try {
        const found: unknown = JSON.parse(readFileSync(join(folder, `${key}.json`), 'utf8'));
        return Array.isArray(found) && found.every(isFinding) ? found : null;
      } catch {
        return null;
      }
    },
    write: (key, findings) => {
      if (!writable) return;
      const path = join(folder, `${key}.json`);
      const temp = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`;
      try {
        writeFileSync(temp, JSON.stringify(findings), { mode: 0o600 });
        renameSync(temp, path);
      } catch {
        writable = false;
        rmSync(temp, { force: true });
      }
    },
  };
}

/** Verdicts that nobody wrote anew for this long are dropped. */
const KEPT_MS = 30 * 24 * 3600 * 1000;
/** A folder with fewer files than this is not worth looking through. */
const FEW = 5000;

/** Drops old verdicts once a cache has grown: a shelf gets one a machine, and each edit of one leaves one behind. */
export function pruneCache(folder: string): void {
  try {
    const names = readdirSync(folder);
    if (names.length < FEW) return;
    for (const name of names) {
      const path = join(folder, name);
      if (/^[0-9a-f]{64}\.json/.test(name) && Date.now() - statSync(path).mtimeMs > KEPT_MS)
        rmSync(path, { force: true });
    }
  } catch {
    // A cache is only a help: what cannot be tidied is left.
  }
}

function isFinding(value: unknown): value is Finding {
  if (typeof value !== 'object' || value === null) return false;
  const { rule, severity, machine, message, file, line } = value as Finding;
  return (
    typeof rule === 'string' &&
    ['error', 'warning', 'note'].includes(severity) &&
    typeof machine === 'string' &&
    typeof message === 'string' &&
    (file === undefined || typeof file === 'string') &&
    (line === undefined || typeof line === 'number')
  );
}

/** Everything a verdict depends on, in one hash: what is asked, and the files it is asked about. */
export function keyOf(asked: readonly unknown[], contents: readonly (readonly [string, Uint8Array])[]): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([asked, contents.map(([name, content]) => [name, content.length])]));
  for (const [, content] of contents) hash.update(content);
  return hash.digest('hex');
}

/** The gate's version: a hash of its own code and of its parsers' versions, so that nobody has to remember to raise it. */
export function gateVersion(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const hash = createHash('sha256');
  for (const name of readdirSync(here).sort()) {
    if (/(?<!\.d)\.[jt]s$/.test(name)) hash.update(name).update(readFileSync(join(here, name)));
  }
  const require = createRequire(import.meta.url);
  for (const parser of ['acorn', 'css-tree', 'parse5']) {
    hash.update(readVersion(require, parser));
  }
  return hash.digest('hex');
}

function readVersion(require: NodeJS.Require, name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return `${name}@${JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version}`;
    } catch {
      // Not in this node_modules; the next one up.
    }
  }
  return name;
}
