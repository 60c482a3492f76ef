import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, startConsole } from '../../src/console/server.ts';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { listShifts, readRecord } from '../../src/shift/record.ts';
import { type TestFactory, makeFactory } from '../helpers/factory.ts';
import { smallFactory } from '../helpers/small-factory.ts';
import { TOKEN } from './room.ts';

describe('a rehearsal shift, watched from the control room', () => {
  let home: TestFactory;
  let room: RunningConsole;
  let browser: Browser;
  let data: string;
  beforeAll(async () => {
    home = await makeFactory();
    const config = await home.config({ 'console.port': 0 }, { MACHINERY_CONSOLE_TOKEN: TOKEN });
    data = config.data;
    room = await startConsole({ config, factory: smallFactory(config) });
    browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser.close();
    await room.close();
    home.remove();
  });

  it('is stopped by its button, is started again, and goes from dark windows to a green line without a reload', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(room.url);
    const state = (station: string) => page.locator(`[data-station=${station}] .window`).getAttribute('data-state');
    expect(await state('staff')).toBe('dark');
    await page.locator('#press-start').click();
    await page.locator('#guard-name').fill('Ada');
    await page.locator('#guard-token').fill(TOKEN);
    await page.locator('#guard-do').click();
    await page.locator('[data-station=work] .window[data-state=running]').waitFor({ timeout: 120_000 });
    await page.locator('#paper li[data-activity]').first().waitFor();

    await page.locator('#press-stop').click();
    await page.locator('#guard-do').click();
    await page.locator('.book .verdict[data-verdict=interrupted]').first().waitFor({ timeout: 120_000 });
    expect(await page.locator('.state .now').textContent()).toContain('Waiting');

    // From here nothing is loaded anew: what changes was told by the server.
    await page.evaluate(() => Object.assign(globalThis, { still: true }));
    await page.locator('#press-start').click();
    await page.locator('#guard-do').click();
    const seen = new Set<string>();
    await expect
      .poll(
        async () => {
          for (const each of await page
            .locator('.station:has([data-state=running])')
            .evaluateAll((all) => all.map((one) => one.getAttribute('data-station') ?? '')))
            seen.add(each);
          return page.locator('.book tbody tr').first().getAttribute('data-verdict');
        },
        { timeout: 300_000, interval: 100 },
      )
      .toBe('green');
    expect([...seen]).toEqual(expect.arrayContaining(['work', 'probe']));
    expect(await state('land')).toBe('ok');
    expect(await page.evaluate(() => 'still' in globalThis)).toBe(true);
    // Every line of the log reached the paper.
    const [, second] = await listShifts(data);
    expect(await page.locator('#paper').textContent()).toContain('is on main as');
    const record = await readRecord(data, second as string);
    await page.locator('.whose a').click();
    expect(await page.locator('.state .now').textContent()).toContain(`${record?.machine} landed`);
    await page.getByRole('link', { name: 'Read the conversation' }).click();
    expect(await page.locator('.turn .seen img').count()).toBeGreaterThan(0);
    await page.close();
  }, 480_000);
});
