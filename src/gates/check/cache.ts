import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../finding.ts';

/**
 * Verdicts by content: one file of lines, each a key (a hash of everything the verdict depends on, so that nothing can be
 * stale), a checksum, and the findings. A run reads it once and appends what is new in one write: two runs at a time do no
 * harm, and a line that is broken is as good as none. (A file for each verdict cost as much time as the judging.)
 */
export interface Cache {
  read(key: string): Finding[] | null;
  write(key: string, findings: readonly Finding[]): void;
  /** Puts what was written on disk. A folder that cannot be written simply remembers nothing. */
  save(): void;
}

const FILE = 'verdicts';
/** Past this the file is written anew with the verdicts of the run at hand: 40 full shelves, some 4 MB. */
const MOST_LINES = 30_000;

export function openCache(folder: string): Cache {
  const path = join(folder, FILE);
  const lines = readLines(path);
  const fresh: string[] = [];
  const used = new Set<string>();
  return {
    read: (key) => {
      const line = lines.get(key);
      const findings = line === undefined ? null : parseLine(line);
      if (line !== undefined && findings) used.add(line);
      return findings;
    },
    write: (key, findings) => {
      const json = JSON.stringify(findings);
      fresh.push(`${key} ${checksum(key, json)} ${json}`);
    },
    save: () => {
      if (fresh.length === 0) return;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (lines.size + fresh.length > MOST_LINES) replace(path, [...used, ...fresh]);
        // Begins with a line end too: half a line that a killed run left must not spoil the next.
        else appendFileSync(path, `\n${fresh.join('\n')}\n`, { mode: 0o600 });
      } catch {
        // A cache is only a help.
      }
      fresh.length = 0;
    },
  };
}

function readLines(path: string): Map<string, string> {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    return new Map(lines.filter((line) => line !== '').map((line) => [line.slice(0, 64), line]));
  } catch {
    return new Map();
  }
}

function replace(path: string, lines: readonly string[]): void {
  const temp = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temp, `${lines.join('\n')}\n`, { mode: 0o600 });
    renameSync(temp, path);
  } finally {
    rmSync(temp, { force: true });
  }
}

function checksum(key: string, json: string): string {
  return createHash('sha256').update(key).update(json).digest('hex').slice(0, 16);
}

/** The findings of a line; null for one that is not as it was written. */
function parseLine(line: string): Finding[] | null {
  const json = line.slice(82);
  if (line.slice(65, 81) !== checksum(line.slice(0, 64), json)) return null;
  try {
    const found: unknown = JSON.parse(json);
    return Array.isArray(found) && found.every(isFinding) ? found : null;
  } catch {
    return null;
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
  for (const parser of ['acorn', 'css-tree', 'meriyah', 'parse5']) {
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
