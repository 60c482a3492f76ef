import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Collector } from './collector.ts';
import { hear } from './hear.ts';
import type { ProbedMachine } from './machine.ts';
import { holdTime } from './page/clock.ts';
import { addPanel } from './page/panel.ts';
import { addSimulation } from './page/simulation.ts';

/** A step that did not return in its time. */
export class Hang extends Error {
  readonly step: string;
  readonly seconds: number;
  constructor(step: string, seconds: number) {
    super(`${step} did not return within ${seconds} s`);
    this.step = step;
    this.seconds = seconds;
  }
}

/** The page is no more: it crashed, ran out of memory, or its browser was ended. */
export class Gone extends Error {}

export interface TabOptions {
  width: number;
  height: number;
  /** Which page of the machine this is: findings of a lower rank are told first. */
  rank: number;
  /** False takes pictures of a page whose script never ends. */
  script?: boolean;
  /** Device pixels to a CSS pixel, 1 unless told: a page of which no picture is taken need not be drawn finely. */
  fineness?: number;
}

/** One page of a machine in a browser context of its own, with everything outside the machine's folder blocked. */
export class Tab {
  /** What is being done, for the messages of what goes wrong meanwhile: "while …". */
  doing = 'while the panel loaded';
  /** Where what is heard goes, and with which rank. */
  told: Collector;
  rank: number;
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly context: BrowserContext;
  private readonly key: string;
  private readonly gone: Promise<never>;
  /** What it was told to open; null before that. */
  opened: string | null = null;

  private constructor(
    context: BrowserContext,
    page: Page,
    cdp: CDPSession,
    given: { key: string; gone: Promise<never>; told: Collector; rank: number },
  ) {
    this.context = context;
    this.page = page;
    this.cdp = cdp;
    this.key = given.key;
    this.gone = given.gone;
    this.told = given.told;
    this.rank = given.rank;
  }

  static async open(browser: Browser, machine: ProbedMachine, told: Collector, options: TabOptions): Promise<Tab> {
    const context = await browser.newContext({
      viewport: { width: options.width, height: options.height },
      deviceScaleFactor: options.fineness ?? 1,
      acceptDownloads: false,
      javaScriptEnabled: options.script ?? true,
      locale: 'en-GB',
      timezoneId: 'UTC',
      serviceWorkers: 'block',
    });
    const key = `__probe_${randomBytes(8).toString('hex')}`;
    const [page] = await Promise.all([context.newPage(), context.addInitScript({ content: scriptOf(key) })]);
    let fail: (error: Error) => void = () => {};
    const gone = new Promise<never>((_, reject) => {
      fail = reject;
    });
    gone.catch(() => {});
    page.on('crash', () => fail(new Gone('the page crashed (out of memory?)')));
    page.on('close', () => fail(new Gone('the page was closed')));
    const cdp = await context.newCDPSession(page);
    const tab = new Tab(context, page, cdp, { key, gone, told, rank: options.rank });
    await hear(tab, machine);
    return tab;
  }

  /**
   * Opens a URL as if for the first time, with nothing stored, and waits until all of it has loaded. A page that tries
   * to leave meanwhile is still waited for.
   */
  async goto(url: string): Promise<void> {
    if (this.opened !== null)
      await this.cdp.send('Storage.clearDataForOrigin', { origin: 'file://', storageTypes: 'all' });
    this.opened = url;
    await this.page.goto(url, { waitUntil: 'commit', timeout: 0 });
    await this.evaluate('KIT.loaded()');
  }

  /**
   * Runs one step under the watchdog. On a machine so busy that no page was given any time to speak of, a page that is
   * slow is not taken for one that hangs: then the watchdog waits longer, until `deadline` (of `performance.now()`).
   * @throws Hang when it does not return in time, Gone when the page is no more.
   */
  async within<T>(step: string, limitMs: number, deadline: number, work: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const startedAt = performance.now();
    const late = new Promise<never>((_, reject) => {
      const look = async () => {
        if (performance.now() < deadline && (await this.isStarved())) timer = setTimeout(() => void look(), 500);
        else reject(new Hang(step, Math.round(limitMs / 1000)));
      };
      timer = setTimeout(() => void look(), Math.min(limitMs, deadline - startedAt));
    });
    try {
      return await Promise.race([work(), late, this.gone]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether none of the browser's pages has had two seconds of a processor: a loop without an end soon has them. */
  private async isStarved(): Promise<boolean> {
    const browser = this.context.browser();
    if (!browser) return false;
    try {
      const session = await browser.newBrowserCDPSession();
      const { processInfo } = await session.send('SystemInfo.getProcessInfo');
      await session.detach();
      return processInfo.every(({ type, cpuTime }) => type !== 'renderer' || cpuTime < 2);
    } catch {
      return false;
    }
  }

  /** Calls a function of the in-page kit; what it returns must be JSON or a text that holds JSON. */
  async call<T>(name: string, ...given: unknown[]): Promise<T> {
    const list = given.map((value) => JSON.stringify(value)).join(', ');
    const value = await this.evaluate(`${this.key}.${name}(${list})`);
    return (typeof value === 'string' ? JSON.parse(value) : value) as T;
  }

  /** Evaluates an expression in the page's own world; `KIT` in it is the in-page kit. */
  async evaluate(expression: string): Promise<unknown> {
    const told = await this.cdp.send('Runtime.evaluate', {
      expression: this.expression(expression),
      returnByValue: true,
      awaitPromise: true,
    });
    if (told.exceptionDetails) {
      throw new Error(told.exceptionDetails.exception?.description ?? told.exceptionDetails.text);
    }
    return told.result.value;
  }

  /** An expression with the name of the in-page kit put in for `KIT`; the kit is in the page's frames too. */
  expression(text: string): string {
    return text.replaceAll('KIT', this.key);
  }

  /** The accessible name of each control's focusable element; null for a control that has none. */
  async accessibleNames(controls: string[]): Promise<(string | null)[]> {
    const list = await this.cdp.send('Runtime.evaluate', {
      expression: `${this.key}.focusTargets(${JSON.stringify(controls)})`,
    });
    if (!list.result.objectId) return [];
    const { result } = await this.cdp.send('Runtime.getProperties', {
      objectId: list.result.objectId,
      ownProperties: true,
    });
    return Promise.all(
      controls.map(async (_, at) => {
        const objectId = result.find(({ name }) => name === String(at))?.value?.objectId;
        if (!objectId) return null;
        const { nodes } = await this.cdp.send('Accessibility.getPartialAXTree', { objectId, fetchRelatives: false });
        return String(nodes[0]?.name?.value ?? '').trim();
      }),
    );
  }

  /** A real click; its three events are sent together and waited for. */
  async click(x: number, y: number): Promise<void> {
    const at = { x, y, button: 'left', clickCount: 1 } as const;
    await Promise.all([
      this.cdp.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y }),
      this.cdp.send('Input.dispatchMouseEvent', { ...at, type: 'mousePressed', buttons: 1 }),
      this.cdp.send('Input.dispatchMouseEvent', { ...at, type: 'mouseReleased', buttons: 0 }),
    ]);
  }

  /** Real presses of a key, one after the other. */
  async press(key: KeyName, times = 1): Promise<void> {
    const stroke = { key, code: key, windowsVirtualKeyCode: KEYS[key], ...(key === 'Enter' ? { text: '\r' } : {}) };
    const sent: Promise<unknown>[] = [];
    for (let n = 0; n < times; n += 1) {
      sent.push(
        this.cdp.send('Input.dispatchKeyEvent', { ...stroke, type: key === 'Enter' ? 'keyDown' : 'rawKeyDown' }),
      );
      sent.push(this.cdp.send('Input.dispatchKeyEvent', { ...stroke, type: 'keyUp' }));
    }
    await Promise.all(sent);
  }

  /** A picture of the viewport, as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.cdp.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
    return Buffer.from(data, 'base64');
  }

  /** Closes the page and its context. A page that hangs may not answer: then its browser's end takes it. */
  async close(): Promise<void> {
    await Promise.race([this.context.close().catch(() => {}), new Promise((done) => setTimeout(done, 1500).unref())]);
  }
}

const KEYS = { Tab: 9, Enter: 13, ArrowUp: 38, ArrowDown: 40 } as const;
export type KeyName = keyof typeof KEYS;

function scriptOf(key: string): string {
  return [holdTime, addSimulation, addPanel].map((part) => `(${part})(${JSON.stringify(key)});`).join('\n');
}
