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

export interface PanelOptions {
  positions: Record<string, string>;
  width?: number;
  height?: number;
  touch?: boolean;
}

interface Pointer {
  down(): Promise<unknown>;
  move(x: number, y: number): Promise<unknown>;
  up(): Promise<unknown>;
}

/** Longer than the moment over which Chromium takes a finger's speed (about 50 ms). */
const RESTS_MS = 120;

/** A panel of the repertoire, open in a page. The simulation is hurried by its own `tick`; hands work the real controls. */
export class Panel {
  readonly errors: string[] = [];
  readonly page: Page;
  /** By a lever's name, where its position stands in the state. */
  private readonly positions: Record<string, string>;

  private constructor(page: Page, positions: Record<string, string>) {
    this.page = page;
    this.positions = positions;
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && this.errors.push(message.text()));
  }

  static async open(browser: Browser, slug: string, options: PanelOptions): Promise<Panel> {
    const { width = 1440, height = 900, touch = false } = options;
    const page = await browser.newPage({ viewport: { width, height }, hasTouch: touch, reducedMotion: 'reduce' });
    const panel = new Panel(page, options.positions);
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

  /**
   * Ticks until the state is as wanted; the waiting is done in the page, so `wanted` may use nothing from outside itself.
   * @throws when it is not within `most` simulated seconds.
   */
  async until(what: string, wanted: (state: State) => boolean, most = 120, stride = 0.5): Promise<State> {
    const [met, state] = await this.page.evaluate<[boolean, State]>(
      `(() => { const m = window.machine, wanted = ${wanted}; for (let t = 0; t <= ${most}; t += ${stride}) { m.tick(${stride}); if (wanted(m.state())) return [true, m.state()]; } return [false, m.state()]; })()`,
    );
    if (!met) throw new Error(`${what} did not come in ${most} s: ${JSON.stringify(state)}`);
    return state;
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
    set: (name, value) => {
      const { mouse } = this.page;
      return this.drag(name, value, {
        down: () => mouse.down(),
        move: (x, y) => mouse.move(x, y),
        up: () => mouse.up(),
      });
    },
  };

  /** Taps, and a finger that is kept on the screen. */
  touch: Hand = {
    press: async (name) => {
      const node = this.control(name);
      await node.scrollIntoViewIfNeeded();
      // The click comes some time after the finger has gone: wait for it, or the simulation runs ahead of the hand.
      const clicked = node.evaluate(
        (one) => new Promise<void>((done) => one.addEventListener('click', () => done(), { once: true })),
      );
      await node.tap();
      await clicked;
    },
    set: async (name, value) => {
      const client = await this.page.context().newCDPSession(this.page);
      let at = { x: 0, y: 0 };
      let on = false;
      const send = (type: string) =>
        client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [at] } as never);
      await this.drag(name, value, {
        down: async () => {
          await send('touchStart');
          on = true;
        },
        move: async (x, y) => {
          at = { x, y };
          if (on) await send('touchMove');
        },
        up: async () => {
          // A finger comes to rest before it lifts. One that lifts at speed is a fling, and the browser takes the
          // next tap as the one that stops it: no click would come.
          await this.page.waitForTimeout(RESTS_MS);
          await send('touchMove');
          await send('touchEnd');
        },
      });
      await client.detach();
    },
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
      }
      throw new Error(`${name} does not come to ${value}`);
    },
  };

  private async tabTo(name: string | RegExp): Promise<void> {
    const wanted = await this.control(name).elementHandle();
    for (let n = 0; n < 60; n += 1) {
      if (await wanted?.evaluate((node) => node === node.ownerDocument.activeElement)) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`${name} is not reached with Tab`);
  }

  private valueOf(name: string): Promise<number> {
    return this.page.evaluate(`window.machine.state()[${JSON.stringify(this.positions[name])}]`);
  }

  /** Waits until the panel shows the state: two frames. */
  async drawn(): Promise<void> {
    await this.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }

  /** Turns a lever about its pivot by small moves of a held pointer, until it stands where it should. */
  private async drag(name: string, value: number, pointer: Pointer): Promise<void> {
    const lever = this.control(name);
    await lever.scrollIntoViewIfNeeded();
    const box = await lever.locator('.pivot').boundingBox();
    if (!box) throw new Error(`${name} has no pivot`);
    const [x, y, reach] = [box.x + box.width / 2, box.y + box.height / 2, Math.max(24, box.width * 1.4)];
    const to = (degrees: number) => {
      const angle = (degrees * Math.PI) / 180;
      return pointer.move(x + reach * Math.sin(angle), y - reach * Math.cos(angle));
    };
    let bearing = -40;
    await to(bearing);
    await pointer.down();
    for (let n = 0; n < 200; n += 1) {
      const now = await this.valueOf(name);
      if (now === value) break;
      bearing += now < value ? 11 : -11;
      await to(bearing);
    }
    await pointer.up();
    if ((await this.valueOf(name)) !== value) throw new Error(`${name} cannot be dragged to ${value}`);
  }
}
