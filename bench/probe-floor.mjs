// The floor for one probe: what a script must do at the least to see a machine. Run as a process of its own.
// Usage: node bench/probe-floor.mjs <machine folder> <out folder> <chromium>
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [folder, out, executablePath] = process.argv.slice(2);
const base = `${pathToFileURL(folder).href}/`;
const browser = await chromium.launch({ executablePath });
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
await page.goto(`${base}index.html`);
await page.screenshot({ path: join(out, 'desktop.png') });
await page.click('[data-action="manual"]');
await page.screenshot({ path: join(out, 'manual.png') });
await page.click('[data-action="close-manual"]');
await page.setViewportSize({ width: 390, height: 844 });
await page.screenshot({ path: join(out, 'phone.png') });
await page.goto(`${base}manual.html`);
await browser.close();
