import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { findChromium } from '../../src/gates/probe/chromium.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

/** A machine's state, as `window.machine.state()` tells it. */
export type State = { alarms: string[] } & Record<string, unknown>;

/** A machine opened from disk, as a visitor has it in front of them, with simulated time in the test's hands. */
export class Panel {
  readonly page: Page;
  readonly errors: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && this.errors.push(message.text()));
  }

  /** Opens the panel in the given folder at 1440 by 900 unless the context says otherwise. */
  static async open(browser: Browser, folder: string, context: BrowserContextOptions = {}): Promise<Panel> {
    const visitor = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true, ...context });
    const panel = new Panel(await visitor.newPage());
    await panel.page.goto(pathToFileURL(join(folder, 'index.html')).href);
    return panel;
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  /** Lets simulated seconds pass, and gives the state after them. */
  pass(seconds: number): Promise<State> {
    return this.page.evaluate(`(window.machine.tick(${seconds}), window.machine.state())`);
  }

  /** Lets simulated time pass until the state is as wanted. Throws when it is not within the limit. */
  async until(wanted: (state: State) => boolean, limit: number): Promise<State> {
    let state = await this.pass(0);
    for (let passed = 0; passed < limit && !wanted(state); passed += 0.5) state = await this.pass(0.5);
    if (!wanted(state)) throw new Error(`not so within ${limit} s: ${JSON.stringify(state)}`);
    return state;
  }

  /** Presses a key so many times on what bears the name. */
  async keys(control: Locator, key: string, times = 1): Promise<void> {
    await control.focus();
    for (let i = 0; i < times; i += 1) await this.page.keyboard.press(key);
  }

  /** Turns a drawn knob or wheel by so many degrees with the mouse, clockwise being positive. */
  async turn(control: Locator, degrees: number): Promise<void> {
    await control.scrollIntoViewIfNeeded();
    const box = await control.boundingBox();
    if (!box) throw new Error('the control has no box');
    const point = (angle: number) => {
      const radians = (angle * Math.PI) / 180;
      const reach = Math.min(box.width, box.height) / 3;
      return [box.x + box.width / 2 + reach * Math.sin(radians), box.y + box.height / 2 - reach * Math.cos(radians)];
    };
    const [x = 0, y = 0] = point(0);
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    const moves = Math.ceil(Math.abs(degrees) / 40);
    for (let i = 1; i <= moves; i += 1) {
      const [toX = 0, toY = 0] = point((degrees * i) / moves);
      await this.page.mouse.move(toX, toY);
    }
    await this.page.mouse.up();
  }

  /** Clicks a slider at a fraction of its length. */
  async slide(control: Locator, fraction: number): Promise<void> {
    const box = await control.boundingBox();
    if (!box) throw new Error('the slider has no box');
    const x = Math.min(box.width - 4, Math.max(4, box.width * fraction));
    await control.click({ position: { x, y: box.height / 2 } });
  }

  /** Ids of the rules that axe-core finds broken, each with the elements. */
  async axe(): Promise<string[]> {
    await this.page.addScriptTag({ path: AXE });
    return this.page.evaluate(
      '(async () => (await axe.run({ iframes: false, preload: false })).violations.map((v) => v.id + " " + v.nodes.map((n) => n.target)))()',
    );
  }

  /** Pixels by which the page overflows sideways. */
  overflow(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - innerWidth');
  }
}
