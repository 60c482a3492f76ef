import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../src/config/load.ts';
import { DatasetStore } from '../../src/dataset/store.ts';
import type { Entry } from '../../src/catalogue/entry.ts';
import { type TestMachine, goodMachine } from './machine.ts';
import { git, temporaryFolder, writeAll } from './origin.ts';
import { type Reply, type ScriptedProvider, type Script, settle, startProvider } from './provider.ts';
import { loadConfig } from '../../src/config/load.ts';

/** A factory whose model is a script: for what a shift does when things go wrong. The origin is a bare repository. */
export interface ScriptedFactory {
  root: string;
  origin: string;
  provider: ScriptedProvider;
  config(flags?: Record<string, unknown>, env?: NodeJS.ProcessEnv): Promise<Config>;
  /** Commits on main as somebody else would, from a desk of their own. */
  commit(files: Record<string, string>, message?: string): string;
  /** main's files at the origin. */
  show(path: string): string;
  originGit(...args: string[]): string;
  rows(config: Config): Promise<string[]>;
  close(): Promise<void>;
}

export const KEY = 'sk-scripted-0123456789abcdef';

export async function scriptedFactory(script: Script, after?: Reply): Promise<ScriptedFactory> {
  const { folder, remove } = temporaryFolder();
  const [root, origin, desk] = [join(folder, 'factory'), join(folder, 'origin.git'), join(folder, 'desk')];
  for (const part of ['AGENTS.md', 'orders', 'scripts', 'factory.yaml', '.gitignore']) {
    mkdirSync(dirname(join(root, part)), { recursive: true });
    cpSync(part, join(root, part), { recursive: true });
  }
  writeAll(root, { 'site/machines.json': '[]\n', 'site/index.html': '<!doctype html><title>Shelf</title>\n' });
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'add', '-A');
  git(root, 'commit', '-q', '-m', 'Begin');
  git(folder, 'clone', '-q', '--bare', root, origin);
  git(folder, 'clone', '-q', origin, desk);
  const provider = await startProvider(script, after ? { after } : {});
  return {
    root,
    origin,
    provider,
    config: (flags = {}, env = {}) =>
      loadConfig({
        cwd: root,
        env: { PATH: process.env.PATH, MACHINERY_API_KEY: KEY, ...env },
        flags: {
          origin,
          provider: 'custom',
          model: 'scripted',
          base_url: provider.baseUrl,
          agent_grace: '2s',
          ...flags,
        },
      }),
    commit(files, message = 'Somebody else') {
      git(desk, 'pull', '-q', '--rebase', 'origin', 'main');
      writeAll(desk, files);
      git(desk, 'add', '-A');
      git(desk, 'commit', '-q', '-m', message);
      git(desk, 'push', '-q', 'origin', 'HEAD:main');
      return git(desk, 'rev-parse', 'HEAD');
    },
    show: (path) => git(origin, 'show', `main:${path}`),
    originGit: (...args) => git(origin, ...args),
    rows: async (config) => (await new DatasetStore(join(config.data, 'dataset')).list()).map(({ id }) => id),
    async close() {
      await provider.close();
      remove();
    },
  };
}

/** The calls that write a machine and make its entry the catalogue's last; `shelf` is what the catalogue held before. */
export function building(
  machine: TestMachine = goodMachine(),
  shelf: readonly Entry[] = [],
): NonNullable<Reply['calls']> {
  const { entry, files } = machine;
  const write = (path: string, content: string) => ({ name: 'write', arguments: { path, content } });
  return [
    ...Object.entries(files).map(([name, text]) => write(`site/machines/${entry.slug}/${name}`, text)),
    write('site/machines.json', `${JSON.stringify([...shelf, entry], null, 2)}\n`),
  ];
}

/** A whole run that makes a machine and settles. */
export const makes = (machine?: TestMachine, shelf?: readonly Entry[]): Reply[] => [
  { calls: building(machine, shelf) },
  settle('A machine was made.'),
];
