import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, loadConfig } from '../../src/config/load.ts';
import { git, temporaryFolder } from './origin.ts';

/** A factory of its own in a temporary folder: this repository's order, contract, scripts and shelf, with main checked out. */
export interface TestFactory {
  root: string;
  config(flags?: Record<string, unknown>, env?: NodeJS.ProcessEnv): Promise<Config>;
  git(...args: string[]): string;
  remove(): void;
}

const PARTS = ['AGENTS.md', 'orders', 'scripts', 'site', 'factory.yaml', '.gitignore'];

/** Makes one. `shelf: 'empty'` begins with no machine on the shelf, which spares the probe's work on older ones. */
export function makeFactory({ shelf = 'empty' }: { shelf?: 'empty' | 'as it is' } = {}): TestFactory {
  const { folder, remove } = temporaryFolder();
  const root = join(folder, 'factory');
  mkdirSync(root);
  for (const part of PARTS) cpSync(part, join(root, part), { recursive: true });
  if (shelf === 'empty') {
    rmSync(join(root, 'site', 'machines'), { recursive: true, force: true });
    writeFileSync(join(root, 'site', 'machines.json'), '[]\n');
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
