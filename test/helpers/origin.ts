import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Temporary repositories for tests: real git, plain calls. */

export type Files = Record<string, string | Buffer>;

/** Runs git in a folder and returns what it printed, trimmed. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' }).trimEnd();
}

/** A temporary folder and the way to remove it. */
export function temporaryFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'machinery-test-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function writeAll(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** A catalogue entry that breaks no rule of the scope gate; the check gate wants more of one. */
export function entryOf(slug: string): Record<string, unknown> {
  return { slug, name: `Name of ${slug}`, tagline: `What ${slug} does` };
}

export function catalogueOf(...slugs: string[]): string {
  return `${JSON.stringify(slugs.map(entryOf), null, 2)}\n`;
}

export function machineFiles(slug: string): Files {
  const files = ['index.html', 'machine.css', 'machine.js', 'manual.html'];
  return Object.fromEntries(files.map((file) => [`site/machines/${slug}/${file}`, `${file} of ${slug}\n`]));
}

/** What a small factory's main holds: one machine on the shelf and a few files that no shift may touch. */
function factoryFiles(): Files {
  return {
    'README.md': '# Factory\n',
    'AGENTS.md': 'Make machines.\n',
    'scripts/check.sh': '#!/bin/sh\n',
    '.gitignore': 'node_modules/\n.machinery/\n*.log\n',
    'site/index.html': '<title>Shelf</title>\n',
    'site/machines.json': catalogueOf('first'),
    ...machineFiles('first'),
  };
}

export interface TestOrigin {
  path: string;
  /** Commits files on main (null removes one) as somebody else would, and returns the commit. */
  commit(files: Record<string, string | Buffer | null>, message?: string): string;
  tip(branch?: string): string;
  branches(): string[];
}

/** A repository with one commit on main, bare or with main checked out. */
export function makeOrigin(
  folder: string,
  kind: 'bare' | 'checkout' = 'bare',
  files: Files = factoryFiles(),
): TestOrigin {
  const path = join(folder, kind === 'bare' ? 'origin.git' : 'origin');
  const desk = kind === 'bare' ? join(folder, 'desk') : path;
  mkdirSync(desk, { recursive: true });
  git(desk, 'init', '-q', '-b', 'main');
  writeAll(desk, files);
  git(desk, 'add', '-A', '-f');
  git(desk, 'commit', '-q', '-m', 'Begin');
  if (kind === 'bare') {
    git(folder, 'clone', '-q', '--bare', desk, path);
    git(desk, 'remote', 'add', 'origin', path);
  }
  return {
    path,
    commit(changes, message = 'Change by somebody else') {
      if (kind === 'bare') git(desk, 'fetch', '-q', 'origin');
      if (kind === 'bare') git(desk, 'reset', '-q', '--hard', 'origin/main');
      for (const [name, content] of Object.entries(changes)) {
        if (content === null) rmSync(join(desk, name), { recursive: true });
        else writeAll(desk, { [name]: content });
      }
      git(desk, 'add', '-A', '-f');
      git(desk, 'commit', '-q', '--allow-empty', '-m', message);
      if (kind === 'bare') git(desk, 'push', '-q', 'origin', 'HEAD:main');
      return git(desk, 'rev-parse', 'HEAD');
    },
    tip: (branch = 'main') => git(path, 'rev-parse', `refs/heads/${branch}`),
    branches: () => git(path, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n'),
  };
}
