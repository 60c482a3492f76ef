import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Outbox } from '../../src/dataset/outbox.ts';
import { Quarantine } from '../../src/dataset/quarantine.ts';
import { consoleToken } from '../../src/console/token.ts';
import { type Examination, examine } from '../../src/doctor/doctor.ts';
import { writePause } from '../../src/factory/pause.ts';
import { lock } from '../../src/support/lock.ts';
import { type TestFactory, makeFactory } from '../helpers/factory.ts';
import { gitServer } from '../helpers/git-server.ts';
import { type Listener, listener } from '../helpers/listener.ts';
import { git } from '../helpers/origin.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';

const KEY = 'sk-or-v1-0123456789abcdef';

describe('the doctor', () => {
  let factory: TestFactory;
  let server: Listener | null = null;
  beforeEach(async () => {
    factory = await makeFactory();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server?.close();
    server = null;
    factory.remove();
  });

  /** What it finds under one name. */
  async function find(
    name: string,
    flags: Record<string, unknown> = {},
    env: NodeJS.ProcessEnv = {},
    live = false,
  ): Promise<Examination> {
    // A browser is not needed for what is asked here; one that is not there spares starting it.
    if (name !== 'browser') vi.stubEnv('CHROMIUM_PATH', '/nonexistent');
    const found = await examine(await factory.config(flags, env), { live });
    return found.find((each) => each.name === name) as Examination;
  }

  it('finds nothing broken where everything is there, and changes nothing', async () => {
    const refs = factory.git('for-each-ref');
    const found = await examine(await factory.config());
    expect(found.filter(({ state }) => state === 'broken')).toEqual([]);
    expect(found.map(({ name }) => name)).toEqual([
      'node',
      'git',
      'browser',
      'data',
      'sandbox',
      'harness',
      'model',
      'secrets',
      'order',
      'origin',
      'shelf',
      'schedule',
      'shifts',
      'dataset',
      'clock',
    ]);
    expect(found.find(({ name }) => name === 'browser')?.told).toMatch(/Chromium \d+.* opened a page/);
    for (const { state, mend } of found) if (state !== 'ok') expect(mend).toBeTruthy();
    expect(factory.git('for-each-ref')).toBe(refs);
    expect(factory.git('status', '--porcelain')).toBe('');
    expect(readdirSync((await factory.config()).data)).toEqual([]);
  });

  it('says which program is missing, and how to get it', async () => {
    expect(await find('harness')).toMatchObject({ state: 'ok', told: expect.stringContaining('zot') });
    expect(await find('harness', { harness: 'zot' }, {})).toMatchObject({ state: 'broken' });
    vi.stubEnv('CHROMIUM_PATH', '/bin/false');
    expect(await find('browser')).toMatchObject({ state: 'broken', mend: expect.stringContaining('CHROMIUM_PATH') });
  });

  describe('on the model', () => {
    const openrouter = { provider: 'openrouter', model: 'a/b' };

    it('says whether the key is there, and never what it is', async () => {
      expect(await find('model', openrouter)).toMatchObject({
        state: 'broken',
        mend: expect.stringContaining('OPENROUTER_API_KEY'),
      });
      const found = await find('model', openrouter, { OPENROUTER_API_KEY: KEY });
      expect(found).toMatchObject({ state: 'ok', told: expect.stringContaining('key set') });
      expect(JSON.stringify(found)).not.toContain(KEY);
    });

    it.each([
      [200, 'ok', 'it answered in'],
      [401, 'broken', 'answered 401'],
      [402, 'broken', 'answered 402'],
      [404, 'broken', 'answered 404'],
      [429, 'warning', 'answered 429'],
      [500, 'broken', 'answered 500'],
    ])('asks it live, and tells an answer of %i', async (status, state, told) => {
      server = await listener(() => ({ status, body: status === 200 ? '{"choices":[]}' : `no, ${KEY} is not good` }));
      const custom = { provider: 'custom', model: 'm', base_url: `${server.address}/v1` };
      const found = await find('model', custom, { MACHINERY_API_KEY: KEY }, true);
      expect(found).toMatchObject({ state, told: expect.stringContaining(told) });
      expect(JSON.stringify(found)).not.toContain(KEY);
      expect(server.heard).toMatchObject([
        { method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` } },
      ]);
    });

    it('tells a web page that answers in its place, and nobody', async () => {
      server = await listener(() => ({ status: 200, body: '<html>' }));
      const base_url = `${server.address}/v1`;
      expect(await find('model', { provider: 'custom', model: 'm', base_url }, {}, true)).toMatchObject({
        state: 'broken',
        mend: expect.stringContaining('base_url'),
      });
      await server.close();
      server = null;
      expect(await find('model', { provider: 'custom', model: 'm', base_url }, {}, true)).toMatchObject({
        state: 'broken',
        told: expect.stringContaining('ECONNREFUSED'),
      });
    });
  });

  it('names the secrets that are set, and a file of one that everybody may read', async () => {
    const file = join(factory.root, 'key.txt');
    writeFileSync(file, KEY, { mode: 0o400 });
    vi.stubEnv('OPENROUTER_API_KEY_FILE', file);
    const env = { OPENROUTER_API_KEY_FILE: file };
    expect(await find('secrets', {}, env)).toMatchObject({ state: 'ok', told: 'set: OPENROUTER_API_KEY' });
    await consoleToken(await factory.config());
    expect((await find('secrets', {}, env)).told).toBe('set: OPENROUTER_API_KEY, MACHINERY_CONSOLE_TOKEN (made here)');
    chmodSync(file, 0o444);
    expect(await find('secrets', {}, env)).toMatchObject({ state: 'warning', told: expect.stringContaining(file) });
  });

  describe('on the origin', () => {
    it('tells one that is not there, and one without the branch', async () => {
      expect(await find('origin', { origin: '/nonexistent' })).toMatchObject({ state: 'broken' });
      expect(await find('origin', { branch: 'trunk' })).toMatchObject({
        state: 'broken',
        told: expect.stringContaining('no branch trunk'),
      });
    });

    it('tries the token for a push over HTTP, and pushes nothing', async () => {
      const bare = join(factory.root, '..', 'bare.git');
      git(factory.root, 'clone', '-q', '--bare', factory.root, bare);
      const serving = await gitServer(join(factory.root, '..'), `Basic ${btoa('x-access-token:right-token')}`);
      try {
        const remote = { origin: serving.url('bare.git'), provider: 'rehearsal' };
        const wrong = await find('origin', remote, { MACHINERY_GIT_TOKEN: 'wrong-token' });
        expect(wrong).toMatchObject({ state: 'broken', told: expect.stringContaining('credential') });
        expect(JSON.stringify(wrong)).not.toContain('wrong-token');
        const right = await find('origin', remote, { MACHINERY_GIT_TOKEN: 'right-token' });
        expect(right).toMatchObject({ state: 'ok', told: expect.stringContaining('a trial push was taken') });
        expect(git(bare, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
      } finally {
        await serving.close();
      }
    });
  });

  it('tells a data folder that has no space, that is open to others, and who works on it', async () => {
    expect(await find('data', { disk_floor: '999TB' })).toMatchObject({
      state: 'broken',
      told: expect.stringContaining('no shift starts'),
    });
    const { data } = await factory.config();
    const held = await lock(data);
    expect(await find('data')).toMatchObject({ state: 'ok', told: expect.stringContaining(`process ${process.pid}`) });
    await held.release();
    expect((await find('data')).told).not.toContain('process');
    writeFileSync(join(factory.root, 'a-file'), '');
    const blocked = await find('data', {}, { MACHINERY_DATA: join(factory.root, 'a-file', 'data') });
    expect(blocked).toMatchObject({ state: 'broken' });
  });

  it('gives the next five times of the schedule in its own zone, or says what is wrong with it', async () => {
    const { told, state } = await find('schedule', { schedule: '15 4 * * *', timezone: 'Europe/Vienna' });
    expect(state).toBe('ok');
    expect(told.match(/\d{4}-\d\d-\d\d 04:15/g)).toHaveLength(5);
    await writePause((await factory.config()).data, { since: '2026-05-04T12:00:00Z', by: 'kim' });
    expect(await find('schedule')).toMatchObject({
      state: 'warning',
      told: expect.stringContaining('paused since 2026-05-04T12:00:00Z by kim'),
    });
    expect(await find('schedule', { schedule: 'every now and then' })).toMatchObject({ state: 'broken' });
    expect(await find('schedule', { timezone: 'Mars/Olympus' })).toMatchObject({ state: 'broken' });
    expect(await find('schedule', { schedule: '0 0 30 2 *' })).toMatchObject({ state: 'broken' });
  });

  it('warns when nine tenths of the shelf are taken, and says when all is', async () => {
    const entries = Array.from({ length: 9 }, (_, n) => ({ slug: `m-${n}`, domain: 'rail', era: `era ${n}` }));
    writeFileSync(join(factory.root, 'site', 'machines.json'), JSON.stringify(entries));
    factory.git('commit', '-qam', 'Fill the shelf');
    const eras = (count: number) => ({
      'catalogue.domains': ['rail'],
      'catalogue.eras': Array.from({ length: count }, (_, n) => `era ${n}`),
    });
    expect(await find('shelf', eras(11))).toMatchObject({ state: 'ok', told: '9 machines, 2 of 11 places are free' });
    expect(await find('shelf', eras(10))).toMatchObject({ state: 'warning' });
    expect(await find('shelf', eras(9))).toMatchObject({ state: 'broken', mend: expect.stringContaining('catalogue') });
  });

  it('refuses a real model without confinement, and takes the rehearsal with a warning', async () => {
    const nobody = { sandbox: 'user', 'agent.user': 'no-such-user' };
    expect(await find('sandbox', nobody)).toMatchObject({ state: 'broken' });
    expect(await find('sandbox', { sandbox: 'none' })).toMatchObject({ state: 'warning' });
  });

  it('tells a shift that was left in the middle, and reds in a row', async () => {
    const { data } = await factory.config();
    keepRecord(data, recordOf('20260504-120000', { verdict: null, endedAt: null }));
    expect(await find('shifts')).toMatchObject({ state: 'warning', told: expect.stringContaining('20260504-120000') });
    for (const hour of ['12', '13', '14']) keepRecord(data, recordOf(`20260504-${hour}0000`, { verdict: 'red' }));
    expect(await find('shifts')).toMatchObject({ state: 'warning', told: expect.stringContaining('3 red in a row') });
    keepRecord(data, recordOf('20260504-150000'));
    expect(await find('shifts')).toMatchObject({ state: 'ok' });
  });

  describe('on the dataset', () => {
    const TOKEN = 'hf_loopbackLOOPBACK';
    const shipping = async (answer: { status: number; body?: string }) => {
      server = await listener(() => ({ headers: { 'content-type': 'application/json' }, ...answer }));
      return { 'dataset.hub.repo': 'a/rows', 'dataset.hub.endpoint': server.address, provider: 'rehearsal' };
    };
    const who = (role: string) => JSON.stringify({ type: 'user', name: 'ada', auth: { accessToken: { role } } });

    it('asks for a token, and whether the hub knows it', async () => {
      const config = await shipping({ status: 200, body: who('write') });
      expect(await find('dataset', config)).toMatchObject({
        state: 'broken',
        mend: expect.stringContaining('HF_TOKEN'),
      });
      expect(await find('dataset', config, { HF_TOKEN: 'not-one' })).toMatchObject({ state: 'broken' });
      expect(server?.heard).toEqual([]);
      await new Outbox((await factory.config()).data).add('20260504-120000');
      expect(await find('dataset', config, { HF_TOKEN: TOKEN })).toMatchObject({
        state: 'ok',
        told: 'a/rows, as ada; 1 row waits in the outbox',
      });
    });

    it.each([
      [{ status: 200, body: who('read') }, 'broken'],
      [{ status: 401, body: '{"error":"no"}' }, 'broken'],
      [{ status: 503, body: '{"error":"later"}' }, 'warning'],
    ])('tells an answer of %j as %s', async (answer, state) => {
      expect(await find('dataset', await shipping(answer), { HF_TOKEN: TOKEN })).toMatchObject({ state });
    });

    it('tells rows that are held back', async () => {
      const { data } = await factory.config();
      const row = join(data, 'dataset', 'trajectories', '20260504-120000');
      mkdirSync(row, { recursive: true });
      await new Quarantine(data).hold('20260504-120000', row, []);
      expect(await find('dataset')).toMatchObject({ state: 'warning', mend: expect.stringContaining('--redact') });
    });
  });

  it('tells a clock that is behind what the factory wrote, or far from the host it talks to', async () => {
    server = await listener(() => ({ status: 204, headers: { date: 'Mon, 01 Jan 2035 00:00:00 GMT' } }));
    const remote = { origin: `${server.address}/x.git`, provider: 'rehearsal' };
    expect(await find('clock', remote)).toMatchObject({
      state: 'warning',
      told: expect.stringContaining('behind 127.0.0.1'),
    });
    const { data } = await factory.config();
    keepRecord(data, recordOf('20350101-000000', { endedAt: '2035-01-01T00:30:00.000Z' }));
    expect(await find('clock')).toMatchObject({ state: 'warning', told: expect.stringContaining('20350101-000000') });
  });
});
