import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { openVisitor, sealVisitor } from '../../src/console/guard/cookie.ts';
import { hostCheck } from '../../src/console/guard/hosts.ts';
import { GuessLimit } from '../../src/console/guard/limit.ts';
import { safeNext } from '../../src/console/guard/who.ts';
import { consoleToken } from '../../src/console/token.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';
import { temporaryFolder, writeAll } from '../helpers/origin.ts';
import { TOKEN, type TestRoom, openRoom } from './room.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const BEARER = { authorization: `Bearer ${TOKEN}` };

describe('a console on loopback', () => {
  let room: TestRoom;
  let cookie: string;
  beforeAll(async () => {
    room = await openRoom();
    keepRecord(room.config.data, recordOf('20260504-120000'), { 'log.ndjson': '' });
    symlinkSync(join(room.config.root, 'secret.txt'), join(room.config.root, 'site', 'link.txt'));
    const answer = await room.ask('/api/sign-in', {
      method: 'POST',
      headers: { ...JSON_TYPE, 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ token: TOKEN, name: 'Ada <b>' }),
    });
    cookie = String(answer.headers['set-cookie']).split(';')[0] as string;
  });
  afterAll(() => room.close());

  it('shows its pages to anybody there, and acts for nobody without the token', async () => {
    expect((await room.ask('/')).status).toBe(200);
    const answer = await room.ask('/api/schedule/pause', {
      method: 'POST',
      headers: { ...JSON_TYPE, 'sec-fetch-site': 'same-origin' },
      body: '{}',
    });
    expect(answer.status).toBe(401);
    expect(answer.json().error.code).toBe('no-token');
    expect(room.factory.status().paused).toBeNull();
  });

  it.each(['evil.example', 'evil.example:8484', '127.0.0.1.evil.example', 'localhost.evil.example'])(
    'does not answer to the host %j',
    async (host) => {
      const answer = await room.ask('/api/status', { headers: { host } });
      expect([400, 403]).toContain(answer.status);
      expect(answer.text).not.toContain('startedAt');
    },
  );

  it.each([
    ['a forged Origin', { origin: 'https://evil.example' }],
    ['the Origin of a sandboxed machine', { origin: 'null' }],
    ['an Origin on another port', { origin: 'http://127.0.0.1:1' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sister site', { 'sec-fetch-site': 'same-site' }],
    ['a typed address', { 'sec-fetch-site': 'none' }],
    ['nowhere that it tells', {}],
  ])('refuses an act with the cookie from %s', async (_, headers) => {
    const answer = await room.ask('/api/schedule/pause', {
      method: 'POST',
      headers: { ...JSON_TYPE, cookie, ...headers },
      body: '{}',
    });
    expect(answer.status).toBe(403);
    expect(room.factory.status().paused).toBeNull();
  });

  it('refuses a forged Origin also with the bearer token', async () => {
    expect((await room.act('/api/schedule/pause', {}, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('takes JSON only, and little of it', async () => {
    const form = { ...BEARER, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await room.ask('/api/schedule/pause', { method: 'POST', headers: form, body: 'a=b' })).status).toBe(415);
    expect((await room.ask('/api/schedule/pause', { method: 'POST', headers: BEARER, body: '{}' })).status).toBe(415);
    expect((await room.act('/api/sign-in', { token: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await room.act('/api/sign-in', { token: 1 })).status).toBe(400);
  });

  it('does an act for the cookie from its own page, and for the bearer token, and writes down who asked', async () => {
    const own = { ...JSON_TYPE, cookie, origin: `http://127.0.0.1:${room.port}`, 'sec-fetch-site': 'same-origin' };
    expect((await room.ask('/api/schedule/pause', { method: 'POST', headers: own, body: '{}' })).status).toBe(200);
    expect(room.factory.status().paused?.by).toBe('Ada b (127.0.0.1)');
    expect((await room.act('/api/schedule/resume')).status).toBe(200);
    const lines = readFileSync(join(room.config.data, 'acts.ndjson'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { at: expect.any(String), by: 'Ada b (127.0.0.1)', act: 'pause the schedule', what: '' },
      { at: expect.any(String), by: 'bearer token (127.0.0.1)', act: 'resume the schedule', what: '' },
    ]);
  });

  it('gives a cookie that scripts cannot read, that no other site sends, and that is Secure behind TLS', async () => {
    const signIn = (headers: Record<string, string>) => room.act('/api/sign-in', { token: TOKEN }, headers);
    const plain = String((await signIn({})).headers['set-cookie']);
    expect(plain).toMatch(/HttpOnly/);
    expect(plain).toMatch(/SameSite=Strict/);
    expect(plain).not.toMatch(/Secure/);
    expect(String((await signIn({ 'x-forwarded-proto': 'https' })).headers['set-cookie'])).toMatch(/Secure/);
  });

  it('forbids inline scripts, framing and sniffing on every page', async () => {
    const { headers } = await room.ask('/');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers['x-content-type-options']).toBe('nosniff');
    const { text } = await room.ask('/shifts/20260504-120000');
    expect(text).not.toMatch(/ style=|<style|<script>| on[a-z]+=/);
  });

  it('serves the shelf without an origin', async () => {
    const answer = await room.ask('/shelf/');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-security-policy']).toBe('sandbox allow-scripts');
    expect((await room.ask('/shelf')).headers.location).toBe('/shelf/');
  });

  it.each([
    '/shelf/../secret.txt',
    '/shelf/..%2fsecret.txt',
    '/shelf/%2e%2e/secret.txt',
    '/shelf/..%5csecret.txt',
    '/shelf/link.txt',
    '/shelf/.git/config',
    '/shelf/%00',
    '/shelf/%',
    '/shelf//etc/passwd',
    '/assets/..%2fserver.ts',
    '/assets/../server.ts',
    '/shifts/..%2f..%2fsecret.txt',
    '/shifts/20260504-120000/..%2f..%2f..%2fconsole-token',
    '/shifts/20260504-120000/%2e%2e',
    '/shifts/20260504-120000/lock',
    '/rows/..%2f..%2fshifts',
    '/rows/20260504-120000/images/..%2f..%2fx.png',
    '/rows/20260504-120000/20260504-120001.jsonl',
  ])('finds nothing outside its folders at %s', async (path) => {
    const answer = await room.ask(path);
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('not for visitors');
  });

  it('refuses a page of another site at every address of the API, also for reading', async () => {
    for (const path of ['/api/status', '/api/shifts', '/api/live', '/api/acts'])
      expect((await room.ask(path, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
  });

  it('lets nobody guess: five wrong tokens in a minute, then a wait, for the right one too', async () => {
    const own = await openRoom();
    try {
      for (let n = 0; n < 5; n += 1)
        expect((await own.act('/api/status', {}, { authorization: `Bearer wrong${n}` })).status).toBe(401);
      const answer = await own.act(
        '/api/sign-in',
        { token: TOKEN },
        { authorization: '', 'sec-fetch-site': 'same-origin' },
      );
      expect(answer.status).toBe(429);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect((await own.act('/api/schedule/pause')).status).toBe(429);
    } finally {
      await own.close();
    }
  });
});

describe('a console on any other address', () => {
  let room: TestRoom;
  beforeAll(async () => {
    const mount = new Hono().get('/healthz', (c) => c.text('well')).get('/metrics', (c) => c.text('counts'));
    room = await openRoom({ 'console.host': '0.0.0.0', 'console.allowed_hosts': ['factory.example'] }, { mount });
  });
  afterAll(() => room.close());

  it('shows no page without the token, but a way to sign in', async () => {
    for (const path of ['/', '/shifts', '/rows', '/doctor', '/shelf/', '/nowhere']) {
      const answer = await room.ask(path);
      expect(answer.status).toBe(303);
      expect(answer.headers.location).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
    }
    expect((await room.ask('/sign-in')).status).toBe(200);
    expect((await room.ask('/assets/room.css')).status).toBe(200);
    expect((await room.ask('/api/status')).status).toBe(401);
    expect((await room.ask('/', { headers: BEARER })).status).toBe(200);
  });

  it('answers a health check without the token, and tells its metrics only with it', async () => {
    expect((await room.ask('/healthz')).text).toBe('well');
    expect((await room.ask('/metrics')).status).toBe(401);
    expect((await room.ask('/metrics', { headers: BEARER })).text).toBe('counts');
  });

  it('answers to the hosts it was told, and to a bare address', async () => {
    expect((await room.ask('/healthz', { headers: { host: 'factory.example' } })).status).toBe(200);
    expect((await room.ask('/healthz', { headers: { host: '10.1.2.3:8484' } })).status).toBe(200);
    expect((await room.ask('/healthz', { headers: { host: 'evil.example' } })).status).toBe(403);
  });
});

describe('the parts of the guard', () => {
  it('makes a token once, where only its owner can read it, and refuses a short one', async () => {
    const { folder, remove } = temporaryFolder();
    try {
      writeAll(folder, { 'factory.yaml': '' });
      const config = await loadConfig({ cwd: folder, env: {} });
      const token = await consoleToken(config);
      expect(token).toMatch(/^[\w-]{32}$/);
      expect(await consoleToken(config)).toBe(token);
      expect(statSync(join(config.data, 'console-token')).mode & 0o777).toBe(0o600);
      const short = await loadConfig({ cwd: folder, env: { MACHINERY_CONSOLE_TOKEN: 'short' } });
      await expect(consoleToken(short)).rejects.toMatchObject({ code: 'console/token' });
      expect(existsSync(join(folder, 'console-token'))).toBe(false);
    } finally {
      remove();
    }
  });

  it('opens a cookie only with the token that sealed it, and until it ends', () => {
    const value = sealVisitor(TOKEN, { name: 'Ada', until: 1000 });
    expect(openVisitor(TOKEN, value, 999)).toEqual({ name: 'Ada', until: 1000 });
    expect(openVisitor(TOKEN, value, 1000)).toBeNull();
    expect(openVisitor('another token altogether', value, 999)).toBeNull();
    const forged = `${Buffer.from('{"name":"Eve","until":9e15}').toString('base64url')}.${value.split('.')[1]}`;
    expect(openVisitor(TOKEN, forged, 999)).toBeNull();
    for (const nonsense of [undefined, '', '.', 'a.b', 'a']) expect(openVisitor(TOKEN, nonsense, 0)).toBeNull();
  });

  it('forgets a wrong guess after a minute, and whose guesses they were when there are very many', () => {
    const limit = new GuessLimit();
    for (let n = 0; n < 5; n += 1) limit.wrong('a', n * 1000);
    expect(limit.waitOf('a', 5000)).toBe(55);
    expect(limit.waitOf('b', 5000)).toBe(0);
    expect(limit.waitOf('a', 60_000)).toBe(0);
  });

  it('knows its hosts by name, with or without a port', () => {
    const settings = {
      host: '127.0.0.1',
      port: 8484,
      public_url: 'https://room.example/',
      allowed_hosts: ['Other.Example:80'],
    };
    const check = hostCheck(settings);
    for (const host of ['localhost:8484', '127.0.0.1', '[::1]:8484', 'room.example', 'other.example:9'])
      expect(check(host)).toBe(true);
    for (const host of [undefined, '', 'example', '10.0.0.1', 'room.example.evil']) expect(check(host)).toBe(false);
  });

  it('goes nowhere but to a page of its own after signing in', () => {
    expect(safeNext('/shifts?page=2')).toBe('/shifts?page=2');
    for (const bad of [
      undefined,
      '',
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
    ])
      expect(safeNext(bad)).toBe('/');
  });
});
