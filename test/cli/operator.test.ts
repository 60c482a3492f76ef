import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { serveControl } from '../../src/factory/control.ts';
import { Factory } from '../../src/factory/factory.ts';
import { run } from '../../src/support/process.ts';
import { MAIN } from '../../src/support/self.ts';
import { temporaryFolder } from '../helpers/origin.ts';

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
