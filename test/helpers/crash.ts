import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { check } from '../../src/gates/check/check.ts';
import type { ShiftRecord } from '../../src/shift/record.ts';
import { HubServer, TOKEN as HUB_TOKEN } from '../dataset/hub-server.ts';
import { type GitServer, gitServer } from './git-server.ts';
import { goodMachines, writeShelf } from './machine.ts';
import { git, temporaryFolder } from './origin.ts';
import { type ScriptedProvider, call, settle, startProvider } from './provider.ts';

/** A factory whose process is killed at chosen points, with everything it talks to on loopback. */

const GIT_TOKEN = 'git-token-0123456789abcdef';
const API_KEY = 'sk-key-0123456789abcdef';
/** A clean shift of this factory takes seconds; on a busy machine, more. */
const LIMIT_MS = 240_000;

/** Kills the group of the one who pushes, once, where `armed` says so: hook, pattern of the ref, process group. */
const HOOK = `#!/bin/sh
refs=$(cat)
[ -f armed ] || exit 0
{ read -r hook; read -r pattern; read -r group; } < armed
[ "$(basename "$0")" = "$hook" ] || exit 0
echo "$refs" | grep -Eq "$pattern" || exit 0
rm armed
kill -s KILL -- "-$group"
`;

export class CrashFactory {
  readonly root: string;
  readonly #remove: () => void;
  readonly #provider: ScriptedProvider;
  readonly #hub: HubServer;
  readonly #server: GitServer | null;
  #checked = 0;

  private constructor(made: {
    root: string;
    remove: () => void;
    provider: ScriptedProvider;
    hub: HubServer;
    server: GitServer | null;
  }) {
    this.root = made.root;
    this.#remove = made.remove;
    this.#provider = made.provider;
    this.#hub = made.hub;
    this.#server = made.server;
  }

  static async make(over: 'file' | 'http', machines: number): Promise<CrashFactory> {
    const { folder: root, remove } = temporaryFolder();
    await writeShelf(join(root, 'stock'), goodMachines(machines));
    const desk = join(root, 'desk');
    mkdirSync(join(desk, 'site'), { recursive: true });
    writeFileSync(join(desk, 'site', 'machines.json'), '[]\n');
    for (const file of ['AGENTS.md', '.gitignore']) writeFileSync(join(desk, file), readFileSync(file));
    git(desk, 'init', '-q', '-b', 'main');
    git(desk, 'add', '-A');
    git(desk, 'commit', '-q', '-m', 'Begin');
    git(root, 'clone', '-q', '--bare', desk, 'origin.git');
    rmSync(desk, { recursive: true });
    for (const hook of ['pre-receive', 'post-receive']) {
      writeFileSync(join(root, 'origin.git', 'hooks', hook), HOOK);
      chmodSync(join(root, 'origin.git', 'hooks', hook), 0o755);
    }
    const agent = `node ${resolve('test/helpers/crash-agent.mjs')} ${join(root, 'stock')}`;
    const provider = await startProvider(
      Array.from({ length: 1000 }, () => ({ body }) => {
        const last = body.messages.at(-1);
        return last.role === 'tool' ? settle('One more on the shelf.') : call('shell', { command: agent });
      }),
      { token: API_KEY },
    );
    const hub = await HubServer.start();
    const server = over === 'http' ? await gitServer(root, `Basic ${btoa(`x-access-token:${GIT_TOKEN}`)}`) : null;
    mkdirSync(join(root, 'tmp'));
    writeFileSync(join(root, 'order.yaml'), 'objective: Make a machine.\n');
    writeFileSync(
      join(root, 'factory.yaml'),
      `origin: ${server?.url('origin.git') ?? 'origin.git'}
order: order.yaml
provider: custom
model: scripted
base_url: ${provider.baseUrl}
sandbox: none
continuations: 20
dataset: { hub: { repo: a/rows, endpoint: ${hub.endpoint} } }
`,
    );
    return new CrashFactory({ root, remove, provider, hub, server });
  }

  /** Does something while the origin is not there. */
  async withoutOrigin<T>(work: () => Promise<T>): Promise<T> {
    const [origin, away] = [join(this.root, 'origin.git'), join(this.root, 'away.git')];
    renameSync(origin, away);
    return work().finally(() => renameSync(away, origin));
  }

  /** Works one shift that is killed at a point. @returns the record; null when it was killed. */
  async shift(point: string): Promise<ShiftRecord | null> {
    const origin = join(this.root, 'origin.git');
    const worker = spawn(process.execPath, ['test/helpers/crash-worker.mjs', this.root, origin, point], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH ?? '',
        TMPDIR: join(this.root, 'tmp'),
        MACHINERY_API_KEY: API_KEY,
        MACHINERY_GIT_TOKEN: GIT_TOKEN,
        HF_TOKEN: HUB_TOKEN,
      },
    });
    const timer = setTimeout(() => worker.pid && process.kill(-worker.pid, 'SIGTERM'), LIMIT_MS);
    const [out, err] = [text(worker.stdout), text(worker.stderr)];
    const [code, signal] = await once(worker, 'close');
    clearTimeout(timer);
    rmSync(join(origin, 'armed'), { force: true });
    if (signal === 'SIGKILL') return null;
    expect(code, await err).toBe(0);
    return JSON.parse(await out) as ShiftRecord;
  }

  /** Looks at all that a crash could have harmed, once a shift has ended well after it. */
  async expectSound(last: ShiftRecord): Promise<void> {
    expect(last).toMatchObject({ verdict: 'green' });
    await this.#expectMain();
    this.#expectRows();
    this.#expectNothingLeft();
  }

  /** Every commit on main is valid, adds one machine, and each shift and machine is there once. */
  async #expectMain(): Promise<void> {
    const origin = join(this.root, 'origin.git');
    const commits = git(origin, 'rev-list', '--reverse', '--first-parent', 'main').split('\n').slice(1);
    const shifts = commits.map((commit) =>
      git(origin, 'log', '-1', '--format=%(trailers:key=Shift,valueonly)', commit).trim(),
    );
    expect(new Set(shifts).size).toBe(commits.length);
    for (const commit of commits.slice(this.#checked)) {
      const files = git(origin, 'show', '--name-status', '--format=', commit).split('\n');
      expect(files.filter((line) => line.startsWith('A\tsite/machines/'))).toHaveLength(4);
      expect(files.filter((line) => line !== 'M\tsite/machines.json')).toHaveLength(4);
      const tree = join(this.root, 'tree');
      mkdirSync(tree);
      git(origin, `--work-tree=${tree}`, '-c', 'core.bare=false', 'checkout', '-f', commit, '--', '.');
      const { findings } = await check({ site: join(tree, 'site'), cache: join(this.root, 'check-cache') });
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
      const slugs = (JSON.parse(readFileSync(join(tree, 'site', 'machines.json'), 'utf8')) as { slug: string }[]).map(
        ({ slug }) => slug,
      );
      expect(new Set(slugs).size).toBe(slugs.length);
      rmSync(tree, { recursive: true });
    }
    rmSync(join(origin, 'index'), { force: true });
    this.#checked = commits.length;
    expect(git(origin, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    git(origin, 'fsck', '--no-dangling');
  }

  /** Every session is in exactly one tip row; every landed commit has one row; the hub has each row as it is here. */
  #expectRows(): void {
    const data = join(this.root, '.machinery');
    const rows = join(data, 'dataset', 'trajectories');
    const all = readdirSync(rows).map((id) => {
      const file = readFileSync(join(rows, id, `${id}.jsonl`), 'utf8');
      expect(this.#hub.text(`trajectories/${id}/${id}.jsonl`)).toBe(file);
      return JSON.parse(file) as { id: string; chain: string[]; machinery: { commit: string } };
    });
    const tips = all.filter(({ id }) => !all.some((other) => other.id !== id && other.chain.includes(id)));
    const sessions = readdirSync(join(data, 'sessions')).flatMap((chain) =>
      readdirSync(join(data, 'sessions', chain)).flatMap((name) => /^(.*)\.jsonl$/.exec(name)?.[1] ?? []),
    );
    for (const session of sessions)
      expect(
        tips.filter(({ chain }) => chain.includes(session)),
        session,
      ).toHaveLength(1);
    const landed = git(join(this.root, 'origin.git'), 'rev-list', '--first-parent', 'main').split('\n').slice(0, -1);
    expect(all.flatMap(({ machinery }) => machinery.commit || []).sort()).toEqual(landed.sort());
    // Its lock is the kernel's, as the data folder's own: the file stays, the lock goes with its holder.
    expect(readdirSync(join(data, 'outbox')).filter((name) => name !== 'lock')).toEqual([]);
    const uploads = this.#hub.commits.flatMap(({ paths }) => paths.filter((path) => path.endsWith('.jsonl')));
    expect(new Set(uploads).size).toBe(uploads.length);
  }

  #expectNothingLeft(): void {
    const data = join(this.root, '.machinery');
    for (const id of readdirSync(join(data, 'shifts')))
      expect(JSON.parse(readFileSync(join(data, 'shifts', id, 'shift.json'), 'utf8')).verdict).not.toBeNull();
    // A receive-pack that is killed leaves what it had received in the origin, for the origin's own `git gc` to clear.
    const left = [...walk(this.root)].filter((path) =>
      /\.lock$|\.tmp$|\/tmp_obj_|\/sessions\/open-|^tmp\/|\.machinery\/(trees|scratch)\/./.test(path),
    );
    expect(left).toEqual([]);
    expect(processesOf(this.root)).toEqual([]);
  }

  /** No secret is on the disk, in any file, raw or as git and HTTP spell it. */
  expectNoSecret(): void {
    const forms = [GIT_TOKEN, API_KEY, HUB_TOKEN, btoa(`x-access-token:${GIT_TOKEN}`)];
    for (const path of walk(this.root)) {
      const file = join(this.root, path);
      if (!statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
      const bytes = readFileSync(file);
      for (const form of forms) expect(bytes.includes(form), path).toBe(false);
    }
  }

  async close(): Promise<void> {
    await this.#provider.close();
    await this.#hub.stop();
    await this.#server?.close();
    for (const { pid } of processesOf(this.root)) process.kill(pid, 'SIGKILL');
    this.#remove();
  }
}

async function text(stream: ChildProcess['stdout']): Promise<string> {
  let said = '';
  for await (const chunk of stream ?? []) said += String(chunk);
  return said;
}

function* walk(folder: string, under = ''): Generator<string> {
  for (const entry of readdirSync(join(folder, under), { withFileTypes: true })) {
    const path = join(under, entry.name);
    yield path;
    if (entry.isDirectory()) yield* walk(folder, path);
  }
}

/** Processes that were started for this factory: its folder is in their environment or command line. */
function processesOf(root: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      if (!existsSync(`/proc/${name}/environ`)) return [];
      try {
        const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ');
        return environment.includes(root) || command.includes(root) ? [{ pid: Number(name), command }] : [];
      } catch {
        return [];
      }
    });
}
