import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { isLoopback, resolveUpstream } from '../../src/harness/providers.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'machinery-providers-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function upstream(yaml: string, env: Record<string, string> = {}) {
  await writeFile(join(root, 'factory.yaml'), yaml);
  return resolveUpstream(await loadConfig({ cwd: root, env }));
}

it('is the rehearsal where nothing is named and nothing leaves the machine', async () => {
  expect(await upstream('origin: .')).toEqual({ provider: 'rehearsal', model: 'rehearsal', baseUrl: '' });
});

it.each(['origin: https://git.example/shelf.git', 'dataset: {hub: {repo: a/b}}'])(
  'must be named with %s',
  async (yaml) => {
    await expect(upstream(yaml)).rejects.toMatchObject({ code: 'config/invalid', data: { key: 'provider' } });
    expect(await upstream(`${yaml}\nprovider: rehearsal`)).toMatchObject({ provider: 'rehearsal' });
  },
);

it('finds a known provider with its key and attribution', async () => {
  expect(await upstream('provider: openrouter\nmodel: a/b', { OPENROUTER_API_KEY: 'key-123456' })).toEqual({
    provider: 'openrouter',
    model: 'a/b',
    baseUrl: 'https://openrouter.ai/api/v1',
    key: 'key-123456',
    headers: { 'x-title': 'Machinery' },
  });
});

it('never takes one provider’s key to another', async () => {
  const env = { OPENAI_API_KEY: 'key-123456' };
  await expect(upstream('provider: anthropic\nmodel: m', env)).rejects.toMatchObject({
    code: 'provider/key-missing',
    data: { variable: 'ANTHROPIC_API_KEY' },
  });
});

it('needs a model, an address for a custom provider, and https off this machine', async () => {
  await expect(upstream('provider: ollama')).rejects.toMatchObject({ code: 'config/invalid', data: { key: 'model' } });
  await expect(upstream('provider: custom\nmodel: m')).rejects.toMatchObject({ code: 'provider/address' });
  const plain = 'provider: custom\nmodel: m\nbase_url: http://models.example/v1';
  await expect(upstream(plain, { MACHINERY_API_KEY: 'key-123456' })).rejects.toMatchObject({
    code: 'provider/address',
  });
  const secure = plain.replace('http:', 'https:');
  await expect(upstream(secure)).rejects.toMatchObject({ code: 'provider/key-missing' });
  expect(await upstream(secure, { MACHINERY_API_KEY: 'key-123456' })).toMatchObject({ key: 'key-123456' });
});

it('needs no key and no https on loopback', async () => {
  const local = await upstream('provider: custom\nmodel: m\nbase_url: http://127.0.0.1:8080/v1');
  expect(local).toEqual({ provider: 'custom', model: 'm', baseUrl: 'http://127.0.0.1:8080/v1' });
  expect(await upstream('provider: ollama\nmodel: m')).not.toHaveProperty('key');
});

it.each([
  ['http://127.0.0.1:1/v1', true],
  ['http://localhost/v1', true],
  ['http://[::1]:8080/v1', true],
  ['http://127.0.0.1.evil.example/v1', false],
  ['http://localhost.evil.example/v1', false],
  ['http://10.0.0.1/v1', false],
])('knows whether %s is this machine', (address, own) => {
  expect(isLoopback(address)).toBe(own);
});
