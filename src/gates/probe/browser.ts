import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { FactoryError } from '../../support/errors.ts';
import { commandOf, processTable } from '../../support/proc.ts';
import { signalGroup } from '../../support/process.ts';

/** A running Chromium whose every process and temporary file is gone after `close`. */
export interface Chromium {
  browser: Browser;
  /** Ends it at once; a second call waits for the first. */
  close(): Promise<void>;
}

/** As the CommonJS it is: imported, the whole bundle would be read once more for the names it exports (0.13 s). */
const requireCommonJs = createRequire(import.meta.url);

const PREFIX = 'machinery-probe-';
/** Chromium makes a socket in its temporary folder, and a socket's path has at most 107 characters (unix(7)). */
const LONGEST_FOLDER = 107 - '/org.chromium.Chromium.XXXXXX/SingletonSocket'.length;

/** The system's temporary folder, or /tmp where that one's name is too long for Chromium. */
function temporaryRoot(): string {
  const folder = join(tmpdir(), `${PREFIX}${process.pid}-XXXXXX`);
  return folder.length <= LONGEST_FOLDER ? tmpdir() : '/tmp';
}

/** How long a browser may take to end by itself before it is killed. */
const CLOSE_LIMIT_MS = 3_000;

/**
 * What interception of requests does not see is cut here: names do not resolve (also not addresses written as
 * numbers), WebRTC may use no UDP and there is no proxy for it, nothing is fetched ahead or in the background.
 */
const NO_NETWORK = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=socks5://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--dns-prefetch-disable',
  '--disable-background-networking',
  '--disable-quic',
  '--no-pings',
  '--disable-domain-reliability',
];

/** Pictures that do not depend on the machine's graphics; and no more than half a gigabyte for a page's objects. */
const STEADY = [
  '--disable-gpu',
  '--font-render-hinting=none',
  '--num-raster-threads=2',
  '--disable-crash-reporter',
  '--js-flags=--max-old-space-size=512',
];

/**
 * Starts Chromium with nothing to reach and a profile of its own.
 * Its sandbox is used where it can be: Chromium refuses it to root, and in many containers the kernel refuses the
 * namespaces it needs; then the network cut and the request filter stand alone.
 * @param executable as `findChromium` gave it.
 * @throws FactoryError `browser/failed` with the end of what Chromium said.
 */
export async function launch(executable: string): Promise<Chromium> {
  const { chromium } = requireCommonJs('playwright-core') as typeof import('playwright-core');
  await sweep();
  const folder = await mkdtemp(join(temporaryRoot(), `${PREFIX}${process.pid}-`));
  const home = join(folder, 'home');
  await mkdir(home);
  const open = (sandbox: boolean) =>
    chromium.launch({
      executablePath: executable,
      chromiumSandbox: sandbox,
      artifactsDir: folder,
      args: [...NO_NETWORK, ...STEADY, `--disk-cache-dir=${join(folder, 'cache')}`],
      // Chromium's own temporary files go where they are removed; it needs nothing else of this process's environment.
      env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: folder, LANG: 'C.UTF-8', TZ: 'UTC' },
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: 30_000,
    });
  try {
    const root = process.getuid?.() === 0;
    const browser = await open(!root).catch((error: unknown) => {
      if (root) throw error;
      return open(false);
    });
    return closable(browser, folder);
  } catch (error) {
    for (const group of groupsOf(folder)) signalGroup(group, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
    throw new FactoryError('browser/failed', {
      message: `Chromium (${executable}) does not start: ${lastLines(error)}`,
      mend: `Run \`${executable} --headless --no-sandbox --dump-dom about:blank\` to see why, or set CHROMIUM_PATH to another.`,
      cause: error,
    });
  }
}

function closable(browser: Browser, folder: string): Chromium {
  let closing: Promise<void> | null = null;
  // Looked up while the browser lives: should it die alone, its pages' processes are known by their group only.
  const groups = groupsOf(folder);
  const end = async () => {
    // Asked first, because a browser that ends by itself reaps its children, which a container's PID 1 may not do.
    const asked = browser.close().catch(() => {});
    const late = new Promise((done) => setTimeout(done, CLOSE_LIMIT_MS).unref());
    await Promise.race([asked, late]);
    for (const group of groups) signalGroup(group, 'SIGKILL');
    await asked;
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  };
  return {
    browser,
    close: () => {
      closing ??= end();
      return closing;
    },
  };
}

/**
 * The process groups of the browsers that were started with this folder: playwright gives each one of its own. Only
 * the browser itself carries the folder on its command line, not the pages' processes.
 */
function groupsOf(folder: string): Set<number> {
  const cache = Buffer.from(`--disk-cache-dir=${folder}/`).toString('latin1');
  const groups = processTable()
    .filter(({ pid, group }) => group > 1 && commandOf(pid).some((word) => word.includes(cache)))
    .map(({ group }) => group);
  return new Set(groups);
}

/** Removes what a probe that was killed outright left behind: folders named after a process that is no more. */
async function sweep(): Promise<void> {
  const root = temporaryRoot();
  for (const name of await readdir(root).catch(() => [])) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : Number.NaN;
    if (!Number.isInteger(owner) || owner === process.pid || isAlive(owner)) continue;
    const folder = join(root, name);
    for (const group of groupsOf(folder)) signalGroup(group, 'SIGKILL');
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function lastLines(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n').filter(Boolean).slice(-6).join(' / ').slice(0, 600);
}
