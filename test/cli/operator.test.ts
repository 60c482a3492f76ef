import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { serveControl } from '../../src/factory/control.ts';
import { Factory } from '../../src/factory/factory.ts';
import type { ShiftRecord } from '../../src/shift/record.ts';
import { run } from '../../src/support/process.ts';
import { MAIN } from '../../src/support/self.ts';
import { listener } from '../helpers/listener.ts';
import { temporaryFolder } from '../helpers/origin.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';

/** Commands of the operator, as they are built. */

let root = '';
let remove = () => {};
beforeEach(() => {
  ({ folder: root, remove } = temporaryFolder());
});
afterEach(() => remove());

const machinery = (args: string[], env: Record<string, string> = {}) =>
  run(process.execPath, [MAIN, ...args], { cwd: root, env: { PATH: process.env.PATH ?? '', HOME: root, ...env } });

describe('machinery config', () => {
  it.each([['--json'], []])('shows no secret and no part of one (%s)', async (...args) => {
    await writeFile(join(root, 'factory.yaml'), 'origin: https://me:a-password@git.example/a.git\n');
    const { stdout, exitCode } = await machinery(['config', ...args], {
      MACHINERY_WEBHOOKS: 'https://hooks.example/services/T0-hidden',
      HF_TOKEN: 'hf_hidden_token',
    });
    expect(exitCode).toBe(0);
    expect(stdout).not.toMatch(/hidden|a-password/);
    expect(stdout).toContain('https://hooks.example/…');
    expect(stdout).toMatch(/HF_TOKEN"?: "?set/);
  });
});

describe('a command whose reader has read enough', () => {
  it.each([
    ['shifts', 0],
    ['logs', 0],
    ['config', 0],
    ['check', 1],
  ])('says nothing of it, and ends as it would have: %s', async (command, code) => {
    await writeFile(join(root, 'factory.yaml'), 'origin: .\n');
    await mkdir(join(root, 'site'));
    await writeFile(join(root, 'site', 'machines.json'), '[{}]');
    for (let n = 10; n < 60; n += 1) keepRecord(join(root, '.machinery'), recordOf(`20260504-1200${n}`));
    const child = spawn(process.execPath, [MAIN, command], { cwd: root, env: { PATH: process.env.PATH, HOME: root } });
    child.stdout.destroy();
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    const [exitCode] = await once(child, 'close');
    expect({ exitCode, said }).toEqual({ exitCode: code, said: '' });
  });
});

describe('machinery shift without a factory', () => {
  it('tells the webhooks of a red shift, and clears what is too old, as a factory would', async () => {
    const server = await listener(() => ({ status: 200 }));
    try {
      await writeFile(join(root, 'order.yaml'), 'objective: Make a machine.\n');
      await writeFile(
        join(root, 'factory.yaml'),
        `origin: ./nowhere.git\norder: order.yaml\nsandbox: none\nwebhooks: ['${server.address}/hook']\n`,
      );
      keepRecord(join(root, '.machinery'), recordOf('20200101-000000'));
      const { exitCode, stdout } = await machinery(['shift', '--json']);
      const { id, verdict } = JSON.parse(stdout) as ShiftRecord;
      expect({ exitCode, verdict }).toEqual({ exitCode: 1, verdict: 'red' });
      expect(server.heard.map(({ body }) => JSON.parse(body))).toMatchObject([{ event: 'red', shift: id }]);
      expect(await readdir(join(root, '.machinery', 'shifts'))).toEqual([id]);
    } finally {
      await server.close();
    }
  });
});

describe('machinery health', () => {
  it('says whether the factory on the data folder is well, wherever its control room listens', async () => {
    await writeFile(join(root, 'factory.yaml'), 'console: { port: 0, host: 127.0.0.9 }\n');
    const config = await loadConfig({ cwd: root, env: {} });
    const log = pino({ level: 'silent' });
    expect(await machinery(['health'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no factory') });

    const factory = new Factory({ config, log });
    await factory.start();
    const control = await serveControl(config.data, factory, log);
    try {
      expect(await machinery(['health'])).toMatchObject({ exitCode: 0, stdout: 'ok: waiting\n' });
    } finally {
      await control.close();
      await factory.stop();
    }
    // A schedule that comes no more.
    const status = { ...factory.status(), state: 'waiting' as const, nextTick: null, paused: null };
    const stalled = await serveControl(config.data, { ...factory, status: () => status } as unknown as Factory, log);
    try {
      expect(await machinery(['health'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('schedule') });
    } finally {
      await stalled.close();
    }
  });
});
