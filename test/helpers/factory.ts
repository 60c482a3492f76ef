import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, loadConfig } from '../../src/config/load.ts';
import { pieces } from '../../src/rehearsal/repertoire.ts';
import { writeShelf } from './machine.ts';
import { git, temporaryFolder } from './origin.ts';

/** A factory of its own in a temporary folder: this repository's order, contract, scripts and shelf, with main checked out. */
export interface TestFactory {
  root: string;
  config(flags?: Record<string, unknown>, env?: NodeJS.ProcessEnv): Promise<Config>;
  git(...args: string[]): string;
  remove(): void;
}

const PARTS = ['AGENTS.md', 'orders', 'scripts', 'site', 'factory.yaml', '.gitignore'];

/**
 * Makes one. `shelf: 'empty'` begins with no machine on the shelf, which spares the probe's work on older ones;
 * `'but one'` with all of the rehearsal's repertoire but its first piece, so that one shift completes it.
 */
export async function makeFactory({
  shelf = 'empty',
}: {
  shelf?: 'empty' | 'but one' | 'as it is';
} = {}): Promise<TestFactory> {
  const { folder, remove } = temporaryFolder();
  const root = join(folder, 'factory');
  mkdirSync(root);
  for (const part of PARTS) cpSync(part, join(root, part), { recursive: true });
  if (shelf !== 'as it is') {
    rmSync(join(root, 'site', 'machines'), { recursive: true, force: true });
    const made = shelf === 'empty' ? [] : (await pieces()).slice(1);
    await writeShelf(
      join(root, 'site'),
      made.map(({ entry, files }) => ({ entry: { ...entry, created: '2026-01-05' }, files })),
    );
  }
  const call = (...args: string[]) => git(root, ...args);
  call('init', '-q', '-b', 'main');
  call('add', '-A');
  call('commit', '-q', '-m', 'Begin');
  return {
    root,
    git: call,
    remove,
    config: (flags = {}, env = {}) => loadConfig({ cwd: root, env: { PATH: process.env.PATH, ...env }, flags }),
  };
}
