import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_VOCABULARY } from '../../src/catalogue/vocabulary.ts';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { serveFolder } from './serve.ts';
import { type Entry, entry, shelfWith } from './shelf.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const many = (count: number) => Array.from({ length: count }, (_, index) => entry(index + 1));

let browser: Browser;
const cleanups: (() => Promise<unknown> | unknown)[] = [];

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
});
afterAll(() => browser.close());
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Opens the page over a catalogue, served below a path, and waits until it has drawn itself. */
async function open(
  catalogue: unknown,
  { below = '/', query = '', ...context }: { below?: string; query?: string } & BrowserContextOptions = {},
): Promise<{ page: Page; errors: string[]; requests: string[] }> {
  const root = shelfWith(catalogue);
  const host = await serveFolder(root, below);
  const visitor = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...context });
  cleanups.push(
    () => rmSync(root, { recursive: true, force: true }),
    () => host.close(),
    () => visitor.close(),
  );
  const page = await visitor.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(host.url + query);
  await page.waitForSelector('html[data-ready]');
  return { page, errors, requests: host.requests };
}

const names = (page: Page) => page.locator('.bay:visible h3').allTextContents();

describe('the catalogue page', () => {
  it('shows the newest machine first and counts machines, places taken and places free', async () => {
    const { page, errors } = await open(many(5));
    expect(await names(page)).toEqual(['Sample 5', 'Sample 4', 'Sample 3', 'Sample 2', 'Sample 1']);
    expect(await page.locator('.counts dd').allTextContents()).toEqual(['5', '5', '245']);
    expect(errors).toEqual([]);
  });

  it('leads to the panel and to the manual, also below a path of its host', async () => {
    const { page } = await open(many(2), { below: '/deep/down/' });
    await page.getByRole('link', { name: 'Sample 2', exact: true }).click();
    await page.waitForURL('**/deep/down/machines/sample-2/');
    await page.goBack();
    await page.getByRole('link', { name: 'Manual of Sample 1' }).click();
    await page.waitForURL('**/deep/down/machines/sample-1/manual.html');
  });

  it("has a board with the factory's own domains and eras, and a disc that leads to what took a place", async () => {
    const machine = entry(1, { domain: 'water', era: '1950s' });
    const { page } = await open([machine]);
    expect(await page.locator('#board-domains th').allTextContents()).toEqual([...DEFAULT_VOCABULARY.domains]);
    expect(await page.locator('#board-eras th').allTextContents()).toEqual([...DEFAULT_VOCABULARY.eras]);
    expect(await page.locator('#board td .disc').count()).toBe(1);
    expect(await page.locator('#board-domains td', { hasText: 'free' }).count()).toBe(249);
    await page.getByRole('link', { name: 'Sample 1: water, 1950s' }).click();
    await page.waitForURL('**/machines/sample-1/');
  });

  it('adds a row for a domain that a widened catalogue has', async () => {
    const { page } = await open([entry(1, { domain: 'lighthouses' })]);
    expect(await page.locator('#board-domains th').last().textContent()).toBe('lighthouses');
    expect(await page.locator('#count-free').textContent()).toBe('259');
  });
});

describe('the slip', () => {
  const shelf = [
    entry(1, { name: 'Ice plant', domain: 'cold-chain', era: '1950s', controls: ['BRINE VALVE', 'B', 'C', 'D'] }),
    entry(2, { name: 'Tide gate', domain: 'water', era: '1950s' }),
    entry(3, { name: 'Cliff lift', domain: 'rail', era: '1920s' }),
  ];

  it('finds by words of the name and of the controls', async () => {
    const { page } = await open(shelf);
    await page.getByRole('searchbox').fill('brine');
    expect(await names(page)).toEqual(['Ice plant']);
    expect(await page.locator('#found').textContent()).toBe('1 of 3 machines');
    await page.getByRole('searchbox').fill('GATE tide');
    expect(await names(page)).toEqual(['Tide gate']);
  });

  it('filters by domain and era together, keeps the wish in the address, and is cleared by one button', async () => {
    const { page } = await open(shelf);
    await page.getByLabel('Era').selectOption('1950s');
    expect(await names(page)).toEqual(['Tide gate', 'Ice plant']);
    await page.getByLabel('Domain').selectOption('water');
    expect(await names(page)).toEqual(['Tide gate']);
    expect(new URL(page.url()).search).toBe('?domain=water&era=1950s');
    await page.reload();
    await page.waitForSelector('html[data-ready]');
    expect(await names(page)).toEqual(['Tide gate']);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    expect((await names(page)).length).toBe(3);
    expect(new URL(page.url()).search).toBe('');
  });

  it('is filled by the keys of the board, which let go when pressed again', async () => {
    const { page } = await open(shelf);
    const key = page.getByRole('button', { name: '1920s' });
    await key.click();
    expect(await names(page)).toEqual(['Cliff lift']);
    expect(await key.getAttribute('aria-pressed')).toBe('true');
    await key.click();
    expect((await names(page)).length).toBe(3);
  });

  it('says so when nothing answers', async () => {
    const { page } = await open(shelf, { query: '?q=zeppelin' });
    expect(await page.getByRole('status').textContent()).toContain('Nothing on the shelf answers');
  });

  it('ignores a word in the address that no list has', async () => {
    const { page } = await open(shelf, { query: '?domain=nowhere' });
    expect((await names(page)).length).toBe(3);
  });
});

describe('the previews', () => {
  const running = (page: Page) => page.locator('.view iframe');

  it('run only near the screen, never more than nine of a hundred, and follow the visitor', async () => {
    const { page, requests } = await open(many(100), { viewport: { width: 1920, height: 1080 } });
    await page.waitForSelector('#bay-sample-100 .view.open');
    expect(await running(page).count()).toBeLessThanOrEqual(9);
    expect(requests.filter((path) => path.endsWith('/index.html')).length).toBeLessThanOrEqual(9);
    expect(await page.locator('#bay-sample-1 iframe').count()).toBe(0);
    await page.locator('#bay-sample-1').scrollIntoViewIfNeeded();
    await page.waitForSelector('#bay-sample-1 .view.open');
    expect(await page.locator('#bay-sample-100 iframe').count()).toBe(0);
    expect(await running(page).count()).toBeLessThanOrEqual(9);
  });

  it('do not start in bays that are flung past', async () => {
    const { page, requests } = await open(many(251));
    await page.waitForSelector('#bay-sample-251 .view.open');
    const started = () => new Set(requests.filter((path) => path.endsWith('/index.html'))).size;
    const before = started();
    await page.evaluate(`(async () => {
      const end = document.documentElement.scrollHeight;
      for (let top = 0; top < end; top += end / 40) {
        scrollTo(0, top);
        await new Promise(requestAnimationFrame);
      }
      scrollTo(0, end);
    })()`);
    await page.waitForSelector('#bay-sample-1 .view.open');
    // A slow machine may stand still for a moment on the way.
    expect(started() - before).toBeLessThan(40);
  });

  it('are held in a sandbox that allows scripts and nothing else, and take no focus', async () => {
    const { page } = await open(many(1));
    await page.waitForSelector('.view.open');
    expect(await running(page).getAttribute('sandbox')).toBe('allow-scripts');
    expect(await page.locator('.view').getAttribute('inert')).toBe('');
  });

  it('stop and start again with their switch', async () => {
    const { page } = await open(many(2));
    await page.waitForSelector('.view.open');
    await page.getByLabel('Running panels').uncheck();
    expect(await running(page).count()).toBe(0);
    await page.getByLabel('Running panels').check();
    expect(await running(page).count()).toBe(2);
  });

  it('do not run where reduced motion is asked for', async () => {
    const { page, requests } = await open(many(2), { reducedMotion: 'reduce' });
    expect(await running(page).count()).toBe(0);
    expect(requests.some((path) => path.includes('/machines/'))).toBe(false);
    await page.getByLabel('Running panels').check();
    expect(await running(page).count()).toBe(2);
  });
});

describe('a hostile or broken catalogue', () => {
  it('is shown as text: no markup, no address and no style of its own', async () => {
    const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const hostile = Object.fromEntries(
      ['name', 'kind', 'domain', 'era', 'design', 'interaction', 'tagline', 'created'].map((key) => [key, markup]),
    );
    const { page, requests, errors } = await open([
      entry(1),
      entry(2, { ...hostile, palette: ['url(//elsewhere.invalid/x)', 'red;background:url(x)'] }),
      entry(3, { slug: 'javascript:alert(1)' }),
      entry(4, { slug: '../../elsewhere' }),
    ] as Entry[]);
    expect(await names(page)).toEqual([markup, 'Sample 1']);
    expect(await page.locator('img, .bay script, [onerror]').count()).toBe(0);
    expect(await page.title()).toBe('Machinery: the stockroom');
    expect(await page.locator('#bay-sample-2 .chips span').count()).toBe(0);
    expect(requests.some((path) => path.includes('elsewhere') || path.includes('/x'))).toBe(false);
    expect(errors).toEqual([]);
  });

  it('loses only the entries that cannot be shown', async () => {
    const { page } = await open([null, 7, 'word', {}, entry(1, { name: 12, controls: 'none' }), entry(2)]);
    expect(await names(page)).toEqual(['Sample 2', 'sample-1']);
  });

  it.each([
    ['{"a": ', 'is not valid JSON'],
    ['{"a": 1}', 'is not a list'],
    ['[]', 'The shelf is empty'],
  ])('%s ends in one clear message', async (catalogue, message) => {
    const { page } = await open(catalogue);
    expect(await page.getByRole('status').textContent()).toContain(message);
    expect(await page.locator('.bay').count()).toBe(0);
    expect(await page.locator('#board-domains tr').count()).toBe(25);
  });

  it('opened from disk says why it is empty and what to do', async () => {
    const root = shelfWith(many(1));
    cleanups.push(() => rmSync(root, { recursive: true, force: true }));
    const page = await browser.newPage();
    cleanups.push(() => page.close());
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(pathToFileURL(join(root, 'index.html')).href);
    await page.waitForSelector('html[data-ready]');
    expect(await page.getByRole('status').textContent()).toMatch(/opened from disk.*npx serve site/s);
    expect(errors).toEqual([]);
  });
});

describe('the page for everybody', () => {
  it.each([390, 768, 1440, 1920])('fits %i px, with nothing for axe to find', async (width) => {
    const { page } = await open(many(7), { viewport: { width, height: 900 } });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.addScriptTag({ path: AXE });
    const violations = await page.evaluate(async () => {
      const axe = (globalThis as unknown as { axe: { run(o: object): Promise<{ violations: { id: string }[] }> } }).axe;
      return (await axe.run({ iframes: false })).violations.map((violation) => violation.id);
    });
    expect(violations).toEqual([]);
  });

  it('is worked by keyboard alone: skip to the shelf, then into the first machine', async () => {
    const { page } = await open(many(3));
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the shelf');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sample 3');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/machines/sample-3/');
  });
});
