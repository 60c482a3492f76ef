import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findChromium } from '../../../src/gates/probe/chromium.ts';
import { FactoryError } from '../../../src/support/errors.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'find-chromium-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function program(...parts: string[]): Promise<string> {
  const path = join(home, ...parts);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '#!/bin/sh\n');
  await chmod(path, 0o755);
  return path;
}

it('takes CHROMIUM_PATH before anything else', async () => {
  const named = await program('mine');
  await program('bin', 'chromium');
  expect(await findChromium({ CHROMIUM_PATH: named, HOME: home, PATH: join(home, 'bin') })).toBe(named);
});

it.each([
  ['a file that is not there', ''],
  ['a folder', '.'],
])('refuses a CHROMIUM_PATH that is %s, and says so', async (_, what) => {
  const named = what === '.' ? home : join(home, 'missing');
  await program('bin', 'chromium');
  const error = await findChromium({ CHROMIUM_PATH: named, HOME: home, PATH: join(home, 'bin') }).catch(
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(FactoryError);
  expect(error.code).toBe('browser/missing');
  expect(error.message).toContain(named);
});

it('then takes the newest of Playwright’s browsers', async () => {
  await program('.cache', 'ms-playwright', 'chromium-999', 'chrome-linux', 'chrome');
  const newest = await program('.cache', 'ms-playwright', 'chromium-1200', 'chrome-linux64', 'chrome');
  await program('.cache', 'ms-playwright', 'firefox-2000', 'firefox', 'firefox');
  await program('bin', 'chromium');
  expect(await findChromium({ HOME: home, PATH: join(home, 'bin') })).toBe(newest);
});

it('finds Playwright’s browsers where PLAYWRIGHT_BROWSERS_PATH says, the headless shell too', async () => {
  const shell = await program('browsers', 'chromium_headless_shell-1200', 'chrome-linux', 'headless_shell');
  expect(await findChromium({ HOME: home, PLAYWRIGHT_BROWSERS_PATH: join(home, 'browsers'), PATH: '' })).toBe(shell);
});

it('then takes the headless shell, chromium, chromium-browser or google-chrome from the PATH, in this order', async () => {
  const env = { HOME: home, PATH: [join(home, 'a'), join(home, 'b')].join(':') };
  const chrome = await program('a', 'google-chrome');
  expect(await findChromium(env)).toBe(chrome);
  const browser = await program('b', 'chromium-browser');
  expect(await findChromium(env)).toBe(browser);
  const chromium = await program('b', 'chromium');
  expect(await findChromium(env)).toBe(chromium);
  const shell = await program('b', 'chromium-headless-shell');
  expect(await findChromium(env)).toBe(shell);
});

it('says how to get one when there is none', async () => {
  const error = await findChromium({ HOME: home, PATH: home }).catch((thrown) => thrown);
  expect(error.code).toBe('browser/missing');
  expect(error.mend).toContain('apt-get install chromium');
});
