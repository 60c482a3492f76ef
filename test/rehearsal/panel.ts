import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type Page, chromium } from 'playwright-core';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { PACKAGE_ROOT } from '../../src/support/self.ts';

// biome-ignore lint/suspicious/noExplicitAny: each machine has a state of its own.
export type State = any;

export async function openBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: await findChromium(), args });
}

/** Two ways to work a panel by its controls' accessible names: with a mouse, and without one. */
export interface Hand {
  press(name: string | RegExp): Promise<void>;
  /** Brings a lever or wheel to a value. */
  set(name: string, value: number): Promise<void>;
}

/** A panel of the repertoire, open in a page. The simulation is hurried by its own `tick`; hands work the real controls. */
export class Panel {
  readonly errors: string[] = [];
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && this.errors.push(message.text()));
  }

  static async open(browser: Browser, slug: string, width = 1440, height = 900): Promise<Panel> {
    const page = await browser.newPage({ viewport: { width, height } });
    const panel = new Panel(page);
    const file = join(PACKAGE_ROOT, 'src', 'rehearsal', 'repertoire', slug, 'index.html');
    await page.goto(pathToFileURL(file).href);
    return panel;
  }

  state(): Promise<State> {
    return this.page.evaluate('window.machine.state()');
  }

  async tick(seconds: number): Promise<State> {
    return this.page.evaluate(`(window.machine.tick(${seconds}), window.machine.state())`);
  }

  /** Ticks until the state is as wanted. @throws when it is not within `most` simulated seconds. */
  async until(what: string, wanted: (state: State) => boolean, most = 120, stride = 0.5): Promise<State> {
    for (let spent = 0; spent <= most; spent += stride) {
      const state = await this.tick(stride);
      if (wanted(state)) return state;
    }
    throw new Error(`${what} did not come in ${most} s: ${JSON.stringify(await this.state())}`);
  }

  control(name: string | RegExp) {
    const exact = typeof name === 'string';
    const roles = ['button', 'slider', 'switch'] as const;
    const [first, ...others] = roles.map((role) => this.page.getByRole(role, { name, exact }));
    return others.reduce((found, next) => found.or(next), first as NonNullable<typeof first>);
  }

  /** Real clicks, and a drag round the pivot. */
  mouse: Hand = {
    press: (name) => this.control(name).click(),
    set: (name, value) => this.drag(name, value),
  };

  /** Tab to it, then keys; nothing else. */
  keyboard: Hand = {
    press: async (name) => {
      await this.tabTo(name);
      await this.page.keyboard.press('Enter');
    },
    set: async (name, value) => {
      await this.tabTo(name);
      for (let n = 0; n < 40; n += 1) {
        const now = await this.valueOf(name);
        if (now === value) return;
        await this.page.keyboard.press(now < value ? 'ArrowUp' : 'ArrowDown');
        await this.drawn();
      }
      throw new Error(`${name} does not come to ${value}`);
    },
  };

  private async tabTo(name: string | RegExp): Promise<void> {
    const wanted = this.control(name);
    for (let n = 0; n < 60; n += 1) {
      if (await wanted.evaluate((node) => node === node.ownerDocument.activeElement)) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`${name} is not reached with Tab`);
  }

  async valueOf(name: string): Promise<number> {
    return Number(await this.control(name).getAttribute('aria-valuenow'));
  }

  /** Waits until the panel shows the state: two frames. */
  async drawn(): Promise<void> {
    await this.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }

  /** Turns a lever about its pivot by small moves of a held mouse, until it stands where it should. */
  private async drag(name: string, value: number): Promise<void> {
    const lever = this.control(name);
    await lever.scrollIntoViewIfNeeded();
    const box = await lever.locator('.pivot').boundingBox();
    if (!box) throw new Error(`${name} has no pivot`);
    const [x, y, reach] = [box.x + box.width / 2, box.y + box.height / 2, Math.max(24, box.width * 1.4)];
    const to = (degrees: number) => {
      const angle = (degrees * Math.PI) / 180;
      return this.page.mouse.move(x + reach * Math.sin(angle), y - reach * Math.cos(angle));
    };
    let bearing = -40;
    await to(bearing);
    await this.page.mouse.down();
    for (let n = 0; n < 400 && (await this.valueOf(name)) !== value; n += 1) {
      bearing += (await this.valueOf(name)) < value ? 6 : -6;
      await to(bearing);
      await this.drawn();
    }
    await this.page.mouse.up();
    if ((await this.valueOf(name)) !== value) throw new Error(`${name} cannot be dragged to ${value}`);
  }
}
