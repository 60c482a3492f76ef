import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'machinery-config-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const write = (text: string) => writeFile(join(root, 'factory.yaml'), text);
const load = (env: NodeJS.ProcessEnv = {}, flags = {}) => loadConfig({ cwd: root, env, flags });

describe('the configuration', () => {
  it('of an empty file is all defaults, with paths made absolute', async () => {
    await write('');
    const config = await load();
    expect(config).toMatchObject({
      origin: root,
      data: join(root, '.machinery'),
      time_limit: 85 * 60_000,
      rework: 2,
      schedule: '*/30 * * * *',
    });
    expect(config.console).toMatchObject({ host: '127.0.0.1', port: 8484 });
    expect(config.catalogue.domains).toHaveLength(25);
    expect(config.catalogue.eras).toHaveLength(10);
  });

  it('is found in a folder above, and is frozen to its depth', async () => {
    await write('console: { port: 9000 }\n');
    await mkdir(join(root, 'a', 'b'), { recursive: true });
    const config = await loadConfig({ cwd: join(root, 'a', 'b'), env: {} });
    expect(config.root).toBe(root);
    expect(() => Object.assign(config.console, { port: 1 })).toThrow(TypeError);
  });

  it('takes the environment over the file, and flags over both', async () => {
    await write('time_limit: 10m\nprovider: openai\nconsole: { port: 9000, host: 0.0.0.0 }\n');
    const env = {
      MACHINERY_TIME_LIMIT: '20m',
      MACHINERY_CONSOLE_PORT: '9100',
      MACHINERY_CATALOGUE_ERAS: '1950s, 1960s',
      MACHINERY_VISION: 'false',
    };
    const config = await load(env, { provider: 'ollama', model: undefined });
    expect(config).toMatchObject({ time_limit: 20 * 60_000, provider: 'ollama', vision: false });
    expect(config.console).toMatchObject({ port: 9100, host: '0.0.0.0' });
    expect(config.catalogue.eras).toEqual(['1950s', '1960s']);
  });

  it('tells every mistake at once, each with its key, its line, what was found and what is allowed', async () => {
    await write('time_limit: soon\nharness: magic\nconsole:\n  port: 99999\ncolour: red\n');
    const error = await load({ MACHINERY_TIMELIMIT: '3m' }).catch((thrown) => thrown);
    expect(error.code).toBe('config/invalid');
    expect(error.message).toMatch(/factory\.yaml:1: time_limit: must be a duration.*found "soon"/);
    expect(error.message).toMatch(/factory\.yaml:2: harness: .*"builtin".*"zot".*"auto".*found "magic"/);
    expect(error.message).toMatch(/factory\.yaml:4: console\.port: .*65535.*found 99999/);
    expect(error.message).toMatch(/factory\.yaml:5: colour: is not a key/);
    expect(error.message).toMatch(/MACHINERY_TIMELIMIT: .*names no setting/);
  });

  it('tells where a wrong value came from when it is not the file', async () => {
    await write('time_limit: 85m\nconsole:\n  port: 8484\n');
    const env = { MACHINERY_TIME_LIMIT: 'soon', MACHINERY_CONSOLE_PORT: '99999' };
    const error = await loadConfig({ cwd: root, env, flags: { harness: 'magic' } }).catch((thrown) => thrown);
    expect(error.message).toMatch(/^ {2}MACHINERY_TIME_LIMIT: must be a duration.*found "soon"/m);
    expect(error.message).toMatch(/^ {2}MACHINERY_CONSOLE_PORT: .*found 99999/m);
    expect(error.message).toMatch(/^ {2}--harness: .*found "magic"/m);
    expect(error.message).not.toContain('factory.yaml:');
  });

  it('reads secrets from variables and from files, and names a file that is not there', async () => {
    await write('');
    await writeFile(join(root, 'token'), 'hf_from_a_file\n');
    const config = await load({ OPENROUTER_API_KEY: 'sk-or-123456', HF_TOKEN_FILE: join(root, 'token') });
    expect(config.secrets).toEqual([
      { name: 'OPENROUTER_API_KEY', value: 'sk-or-123456' },
      { name: 'HF_TOKEN', value: 'hf_from_a_file' },
    ]);
    await expect(load({ HF_TOKEN_FILE: join(root, 'none') })).rejects.toMatchObject({
      code: 'config/invalid',
      message: expect.stringContaining('HF_TOKEN_FILE'),
    });
  });

  it('counts as secrets what addresses hold: passwords, and webhooks, which a file may name', async () => {
    await write('origin: https://me:pass%20word@git.example/a.git\n');
    const hooks = ['https://hooks.example/T0/secret-path?k=1', 'http://10.0.0.1/hook'];
    await writeFile(join(root, 'hooks'), `${hooks.join('\n')}\n`);
    const config = await load({ MACHINERY_WEBHOOKS_FILE: join(root, 'hooks') });
    expect(config.webhooks).toEqual(hooks);
    expect(config.secrets).toEqual([
      { name: 'webhooks', value: hooks[0] },
      { name: 'webhooks', value: '/T0/secret-path?k=1' },
      { name: 'webhooks', value: hooks[1] },
      { name: 'origin', value: 'pass%20word' },
      { name: 'origin', value: 'pass word' },
    ]);
    await write('webhooks: [ftp://hooks.example/secret-path]\n');
    await expect(load()).rejects.toMatchObject({ message: expect.not.stringContaining('secret-path') });
  });

  it('is an error with a mend where there is no factory.yaml', async () => {
    await expect(load()).rejects.toMatchObject({
      code: 'config/missing',
      mend: expect.stringContaining('MACHINERY_CONFIG'),
    });
  });

  it.each(['a: [', '- a', 'x: *y'])('survives a file that says %j', async (text) => {
    await write(text);
    await expect(load()).rejects.toMatchObject({ code: 'config/invalid' });
  });
});
