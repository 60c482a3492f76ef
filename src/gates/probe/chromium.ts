import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { FactoryError } from '../../support/errors.ts';

/**
 * Names a system's Chromium goes by on the PATH, in the order in which they are tried. The headless shell comes first:
 * the whole browser lays out a window of its own for every context, which took it twice the processor time of a probe.
 */
const ON_THE_PATH = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** Where Playwright keeps a browser's executable in its own folder, by kind of build. */
const IN_A_BUILD = [
  'chrome-linux/chrome',
  'chrome-linux64/chrome',
  'chrome-linux/headless_shell',
  'chrome-headless-shell-linux64/chrome-headless-shell',
];

/**
 * Finds a Chromium: `CHROMIUM_PATH`, then the newest browser in Playwright's cache, then the names on the PATH that
 * a system's Chromium goes by, the headless shell first.
 * @returns the executable's absolute path.
 * @throws FactoryError `browser/missing` when there is none, or CHROMIUM_PATH names something that cannot be run.
 */
export async function findChromium(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env.CHROMIUM_PATH;
  if (named) {
    if (await canRun(named)) return named;
    throw new FactoryError('browser/missing', {
      message: `CHROMIUM_PATH is ${named}, which is not an executable file`,
      mend: 'Set CHROMIUM_PATH to the path of a Chromium, or unset it so that one is looked for.',
      data: { path: named },
    });
  }
  const found = (await inPlaywrightCache(env)) ?? (await onPath(env));
  if (found) return found;
  throw new FactoryError('browser/missing', {
    message: `no Chromium is installed: none in Playwright's cache, and no ${ON_THE_PATH.join(', ')} on the PATH`,
    mend: 'Run `apt-get install chromium-headless-shell`, or set CHROMIUM_PATH to the path of one.',
  });
}

async function canRun(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function inPlaywrightCache(env: NodeJS.ProcessEnv): Promise<string | null> {
  const cache = env.PLAYWRIGHT_BROWSERS_PATH || join(env.HOME || homedir(), '.cache', 'ms-playwright');
  const builds = (await readdir(cache).catch(() => []))
    .map((name) => ({ name, build: /^chromium(_headless_shell)?-(\d+)$/.exec(name) }))
    .flatMap(({ name, build }) => (build ? [{ name, shell: Boolean(build[1]), number: Number(build[2]) }] : []))
    // The newest first, and of one build the headless shell before the whole browser.
    .sort((a, b) => b.number - a.number || Number(b.shell) - Number(a.shell));
  for (const { name } of builds) {
    for (const inside of IN_A_BUILD) {
      const path = join(cache, name, inside);
      if (await canRun(path)) return path;
    }
  }
  return null;
}

async function onPath(env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const name of ON_THE_PATH) {
    for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
      const path = join(folder, name);
      if (await canRun(path)) return path;
    }
  }
  return null;
}
