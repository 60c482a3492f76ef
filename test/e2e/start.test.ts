import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listShifts, readRecord } from '../../src/shift/record.ts';
import { MAIN } from '../../src/support/self.ts';
import { HubServer, TOKEN as HUB_TOKEN } from '../dataset/hub-server.ts';
import { KEY, type ScriptedFactory, building, scriptedFactory } from '../helpers/scripted-shift.ts';

/** The long run as a process: `machinery start`, those who ask it, and its end by a signal. */

describe('a factory that was started', () => {
  let factory: ScriptedFactory;
  let data: string;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    // The agent builds its machine, then waits for a model that says nothing more.
    factory = await scriptedFactory([{ calls: building() }, { silent: true }]);
    data = join(factory.root, '.machinery');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await factory.close();
  });

  function machinery(args: string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: factory.root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        MACHINERY_ORIGIN: factory.origin,
        MACHINERY_PROVIDER: 'custom',
        MACHINERY_MODEL: 'scripted',
        MACHINERY_BASE_URL: factory.provider.baseUrl,
        MACHINERY_SANDBOX: 'none',
        MACHINERY_API_KEY: KEY,
        MACHINERY_SCHEDULE: '0 0 1 1 *',
        MACHINERY_CONSOLE_PORT: '0',
        ...env,
      },
    });
    children.push(child);
    const ended = Promise.all([once(child, 'close'), text(child.stderr)]).then(([[code], err]) => ({ code, err }));
    return { child, ended };
  }

  /** Starts it and waits until it says where its control room is and that it is ready. */
  async function start(env?: NodeJS.ProcessEnv) {
    const { child, ended } = machinery(['start'], env);
    const lines: Record<string, unknown>[] = [];
    const reader = createInterface({ input: child.stdout });
    reader.on('line', (line) => lines.push(JSON.parse(line)));
    const heard = async (what: string) => {
      while (!lines.some(({ msg }) => msg === what)) await once(reader, 'line');
    };
    await heard('ready');
    return { child, ended, lines, heard, url: lines.find(({ url }) => url !== undefined)?.url as string };
  }

  it('is asked for a shift, is the only one, and on SIGTERM brings the shift to a safe end', async () => {
    const { child, ended, url } = await start();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const second = await machinery(['start']).ended;
    expect(second).toMatchObject({ code: 1, err: expect.stringContaining(`process ${child.pid} on ${hostname()}`) });

    const asked = machinery(['shift']);
    asked.child.stdout.resume();
    await factory.provider.request(2);
    const other = machinery(['shift', '--no-wait']);
    other.child.stdout.resume();
    expect((await other.ended).code).toBe(75);

    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    expect((await asked.ended).code).toBe(1);

    const [id = '', ...more] = await listShifts(data);
    expect(more).toEqual([]);
    const record = await readRecord(data, id);
    expect(record).toMatchObject({ verdict: 'interrupted', branch: `shift/${id}`, session: expect.any(String) });
    expect(factory.originGit('ls-tree', '-r', '--name-only', `shift/${id}`)).toContain('/machine.js');
    expect(await factory.rows(await factory.config())).toEqual([record?.session]);
    expect(processesOf(factory.root)).toEqual([]);

    // Started twice more, there is nothing to do and nothing is done.
    const before = snapshotOf(data);
    for (let again = 0; again < 2; again += 1) {
      const next = await start();
      next.child.kill('SIGTERM');
      expect((await next.ended).code).toBe(0);
      expect(next.lines.map(({ msg }) => msg)).not.toContain('finished a shift whose process died');
    }
    expect(snapshotOf(data)).toEqual(before);

    // With a hub at last, the row that waits leaves without waiting for a shift.
    const hub = await HubServer.start();
    try {
      const { heard, ...last } = await start({
        MACHINERY_DATASET_HUB_REPO: 'a/rows',
        MACHINERY_DATASET_HUB_ENDPOINT: hub.endpoint,
        HF_TOKEN: HUB_TOKEN,
      });
      await heard('rows shipped');
      last.child.kill('SIGTERM');
      expect((await last.ended).code).toBe(0);
      const row = `trajectories/${record?.session}/${record?.session}.jsonl`;
      expect(hub.commits.flatMap(({ paths }) => paths).filter((path) => path === row)).toHaveLength(1);
    } finally {
      await hub.stop();
    }
  });
});

/** Every file of the data folder with its content, but for the lock, which names its last holder. */
function snapshotOf(data: string): Record<string, string> {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => path !== join(data, 'lock'));
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(path, 'latin1')]));
}

function processesOf(root: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'latin1').includes(root);
      } catch {
        return false;
      }
    });
}
