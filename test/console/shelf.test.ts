import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type Page, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isShelfKey, keyedPath, shelfKey } from '../../src/console/guard/shelf-key.ts';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { factoryId } from '../../src/shift/factory-id.ts';
import { openLine } from '../../src/shift/open-line.ts';
import { gitServer } from '../helpers/git-server.ts';
import { makeOrigin, temporaryFolder } from '../helpers/origin.ts';
import { entry, shelfWith } from '../site/shelf.ts';
import { TOKEN, type TestRoom, openRoom } from './room.ts';

const BEARER = { authorization: `Bearer ${TOKEN}` };
const cleanups: (() => Promise<unknown> | unknown)[] = [];
let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
});
afterAll(() => browser.close());
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(flags: Record<string, unknown> = {}): Promise<TestRoom> {
  const room = await openRoom(flags);
  cleanups.push(() => room.close());
  return room;
}

/** Puts the real catalogue page with two machines where a room has its site. */
function stock({ config }: TestRoom): void {
  const shelf = shelfWith([entry(1), entry(2)]);
  cpSync(shelf, join(config.root, 'site'), { recursive: true });
  rmSync(shelf, { recursive: true });
}

async function visit(): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  cleanups.push(() => page.close());
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (said) => said.type() === 'error' && errors.push(said.text()));
  return { page, errors };
}

async function showsItsMachines(page: Page): Promise<void> {
  await page.locator('#bay-sample-2 .view.open').waitFor();
  expect(await page.locator('.bay h3').allTextContents()).toEqual(['Sample 2', 'Sample 1']);
  const panel = page.frameLocator('#bay-sample-2 iframe');
  expect(await panel.locator('h1').textContent()).toBe('sample-2');
}

describe('the catalogue page in the control room', () => {
  it('shows its machines and runs their panels on loopback', async () => {
    const room = await open();
    stock(room);
    const { page, errors } = await visit();
    await page.goto(`${room.url}/shelf/`);
    await showsItsMachines(page);
    expect(errors).toEqual([]);
  });

  it('shows them behind the token too, though a page without an origin sends no cookie', async () => {
    const room = await open({ 'console.host': '0.0.0.0' });
    stock(room);
    const { page, errors } = await visit();
    await page.goto(`${room.url}/shelf/`);
    await page.locator('#sign-in-token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await showsItsMachines(page);
    expect(errors).toEqual([]);
    await page.locator('#bay-sample-1 a.take').click();
    await page.locator('h1', { hasText: 'sample-1' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/shelf\/~[\w-]{32}\/machines\/sample-1\/$/);
  });
});

describe('the key to the shelf', () => {
  it('opens the shelf and nothing else, and only where it is good', async () => {
    const room = await open({ 'console.host': '0.0.0.0' });
    const { headers } = await room.ask('/shelf/machines.json', { headers: { cookie: await cookieOf(room) } });
    const keyed = String(headers.location).replace('machines.json', '');
    expect((await room.ask(`${keyed}machines.json`)).text).toBe('[]\n');
    expect((await room.ask('/shelf/machines.json', { headers: BEARER })).text).toBe('[]\n');
    for (const path of ['/shelf/machines.json', `/shelf/~${'x'.repeat(32)}/machines.json`, '/shelf/~/machines.json'])
      expect((await room.ask(path)).headers.location).toMatch(/^\/sign-in/);
    for (const path of ['../../', '../../shifts', '..%2f..%2f', '%2e%2e/%2e%2e/api/status', '../factory.yaml'])
      expect([303, 401, 404]).toContain((await room.ask(keyed + path)).status);
    expect((await room.ask(keyed, { method: 'POST' })).status).toBe(401);
  });

  it('lasts for its day and the next', () => {
    const noon = Date.UTC(2026, 4, 4, 12);
    const key = shelfKey(TOKEN, noon);
    const day = 86_400_000;
    expect([0, 1, 2, -1].map((days) => isShelfKey(TOKEN, key, noon + days * day))).toEqual([true, true, false, false]);
    expect(isShelfKey('another token altogether', key, noon)).toBe(false);
    expect(keyedPath(`/shelf/~${key}/a/b`)).toEqual({ key, rest: 'a/b' });
    expect(keyedPath('/shelf/a/~b')).toBeNull();
  });

  async function cookieOf(room: TestRoom): Promise<string> {
    const answer = await room.act('/api/sign-in', { token: TOKEN });
    return String(answer.headers['set-cookie']).split(';')[0] as string;
  }
});

describe('the shelf of an origin without a folder of its own', () => {
  /** A room whose origin is bare, on this machine or behind HTTP. */
  async function bare(served: boolean): Promise<TestRoom & { fetch(): Promise<unknown> }> {
    const { folder, remove } = temporaryFolder();
    const origin = makeOrigin(folder);
    const server = served ? await gitServer(folder) : null;
    cleanups.push(remove, () => server?.close());
    const room = await open({ origin: server ? server.url('origin.git') : origin.path });
    const { config } = room;
    const fetch = async () => (await openLine({ config, factory: await factoryId(config.data) })).fetch();
    return { ...room, fetch };
  }

  it.each([
    ['bare, on this machine', false],
    ['remote', true],
  ])('is main as last fetched, %s', async (_, served) => {
    const room = await bare(served);
    const early = await room.ask('/shelf/');
    expect([early.status, early.text.includes('the next shift fetches it')]).toEqual([404, true]);
    await room.fetch();
    expect((await room.ask('/shelf/')).text).toBe('<title>Shelf</title>\n');
    expect((await room.ask('/shelf/machines/first')).headers.location).toBe('/shelf/machines/first/');
    const answer = await room.ask('/shelf/machines/first/machine.js');
    expect([answer.text, answer.headers['content-type']]).toEqual([
      'machine.js of first\n',
      'text/javascript; charset=utf-8',
    ]);
    expect(answer.headers['content-security-policy']).toBe('sandbox allow-scripts');
    for (const path of ['../README.md', '..%2fREADME.md', 'machines', '.git/HEAD', 'nothing.html'])
      expect((await room.ask(`/shelf/${path}`)).status).toBe(404);
  });
});
