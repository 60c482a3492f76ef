import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, type Locator, type Page, chromium } from 'playwright-core';
import { findChromium } from '../../src/gates/probe/chromium.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A machine's state, as `window.machine.state()` tells it; each machine has one of its own. */
// biome-ignore lint/suspicious/noExplicitAny: each machine has a state of its own.
export type State = { alarms: string[] } & Record<string, any>;

export async function openBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: await findChromium(), args });
}

/** A way to work a panel by its controls' accessible names. */
export interface Hand {
  press(name: string | RegExp): Promise<void>;
  /** Brings a lever, wheel or knob to a value. */
  set(name: string, value: number): Promise<void>;
  /** Takes one of several places, which are radio buttons underneath. */
  choose(name: string): Promise<void>;
}

export interface PanelOptions extends BrowserContextOptions {
  /** By the accessible name of what hands `set`, where its position stands in the state. */
  positions?: Record<string, string>;
}

/** The picture of a phone that is worked with a finger. */
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true };

/**
 * Run in the page before its own scripts: the time that its frames are told stands still, or a machine would go on by
 * itself while a hand looks for the next control, the further the busier this computer is. `drawn` lets it run.
 */
const STAND_STILL = `(() => {
  const real = window.requestAnimationFrame.bind(window);
  let told = 0, last = 0;
  window.requestAnimationFrame = (frame) => real((now) => {
    if (window.timeRuns) told += now - last;
    last = now;
    frame(told);
  });
})()`;

/** Long enough for a panel that draws four times a second when stillness was asked for. */
const DRAWN_MS = 300;

interface Pointer {
  down(): Promise<unknown>;
  move(x: number, y: number): Promise<unknown>;
  up(): Promise<unknown>;
}

/** Longer than the moment over which Chromium takes a finger's speed (about 50 ms). */
const RESTS_MS = 120;

/**
 * A machine opened from disk, as a visitor has it in front of them. Simulated time is in the test's hands, by the machine's
 * own `tick`; the real controls are worked with a mouse, a finger, or keys alone.
 */
export class Panel {
  readonly page: Page;
  readonly errors: string[] = [];
  private readonly positions: Record<string, string>;

  private constructor(page: Page, positions: Record<string, string>) {
    this.page = page;
    this.positions = positions;
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && this.errors.push(message.text()));
  }

  /** Opens the panel in the given folder at 1440 by 900, without a network, unless the options say otherwise. */
  static async open(browser: Browser, folder: string, options: PanelOptions = {}): Promise<Panel> {
    const { positions = {}, ...context } = options;
    const usual: BrowserContextOptions = {
      viewport: { width: 1440, height: 900 },
      offline: true,
      reducedMotion: 'reduce',
    };
    const visitor = await browser.newContext({ ...usual, ...context });
    const panel = new Panel(await visitor.newPage(), positions);
    await panel.page.addInitScript(STAND_STILL);
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

  state(): Promise<State> {
    return this.pass(0);
  }

  /**
   * Lets simulated time pass until the state is as wanted. The waiting is done in the page, so `wanted` may use nothing from
   * outside itself but `given`, which it gets as its second argument.
   * @throws when it is not so within `most` simulated seconds.
   */
  async until<Given>(
    wanted: (state: State, given: Given) => boolean,
    most = 120,
    { stride = 0.5, given }: { stride?: number; given?: Given } = {},
  ): Promise<State> {
    const [met, state] = await this.page.evaluate<[boolean, State]>(
      `(() => { const m = window.machine, wanted = ${wanted}, given = ${JSON.stringify(given)}; for (let t = 0; t <= ${most}; t += ${stride}) { m.tick(${stride}); if (wanted(m.state(), given)) return [true, m.state()]; } return [false, m.state()]; })()`,
    );
    if (!met) throw new Error(`not so within ${most} s: ${wanted}, but ${JSON.stringify(state)}`);
    return state;
  }

  control(name: string | RegExp): Locator {
    const exact = typeof name === 'string';
    const roles = ['button', 'slider', 'switch'] as const;
    const [first, ...others] = roles.map((role) => this.page.getByRole(role, { name, exact }));
    return others.reduce((found, next) => found.or(next), first as NonNullable<typeof first>);
  }

  private place(name: string): Locator {
    return this.page.getByRole('radio', { name, exact: true });
  }

  /** Real clicks, and a drag. */
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
    choose: (name) => this.place(name).click(),
  };

  /** Taps, and a finger that is kept on the screen. */
  touch: Hand = {
    press: (name) => tap(this.control(name)),
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
    choose: (name) => tap(this.place(name)),
  };

  /** Tab to it, then keys; nothing else. */
  keyboard: Hand = {
    press: async (name) => {
      await this.tabTo(this.control(name));
      await this.page.keyboard.press('Enter');
    },
    set: async (name, value) => {
      await this.tabTo(this.control(name));
      for (let n = 0; n < 60; n += 1) {
        const now = await this.valueOf(name);
        if (now === value) return;
        await this.page.keyboard.press(now < value ? 'ArrowUp' : 'ArrowDown');
      }
      throw new Error(`${name} does not come to ${value}`);
    },
    choose: async (name) => {
      // Tab comes to the one of the group that is chosen; arrows go on from there.
      const wanted = this.place(name);
      await this.tabTo(wanted);
      for (let n = 0; n < 5 && !(await wanted.isChecked()); n += 1) await this.page.keyboard.press('ArrowDown');
      if (!(await wanted.isChecked())) throw new Error(`${name} is not reached with arrows`);
    },
  };

  /** Tab, or Shift and Tab when the control stands before what has the focus. Radio buttons of one name are one stop. */
  private async tabTo(wanted: Locator): Promise<void> {
    for (let n = 0; n < 80; n += 1) {
      const way = await wanted.evaluate((node) => {
        const focus = node.ownerDocument.activeElement;
        if (focus === node || (node.type === 'radio' && node.name === focus.name)) return null;
        return focus.compareDocumentPosition(node) === focus.DOCUMENT_POSITION_PRECEDING ? 'Shift+Tab' : 'Tab';
      });
      if (!way) return;
      await this.page.keyboard.press(way);
    }
    throw new Error(`${wanted} is not reached with Tab`);
  }

  private valueOf(name: string): Promise<number> {
    return this.page.evaluate(`window.machine.state()[${JSON.stringify(this.positions[name])}]`);
  }

  /** Small moves of a held pointer, until it stands where it should: round the `.pivot` if there is one, or else up. */
  private async drag(name: string, value: number, pointer: Pointer): Promise<void> {
    const lever = this.control(name);
    await lever.scrollIntoViewIfNeeded();
    const turns = (await lever.locator('.pivot').count()) > 0;
    const box = await (turns ? lever.locator('.pivot') : lever).boundingBox();
    if (!box) throw new Error(`${name} has no box`);
    const [x, y, reach] = [box.x + box.width / 2, box.y + box.height / 2, Math.max(24, box.width * 1.4)];
    const to = (step: number) => {
      if (!turns) return pointer.move(x, y - step * 3);
      const angle = ((step * 11 - 40) * Math.PI) / 180;
      return pointer.move(x + reach * Math.sin(angle), y - reach * Math.cos(angle));
    };
    let step = 0;
    await to(step);
    await pointer.down();
    for (let n = 0; n < 200; n += 1) {
      const now = await this.valueOf(name);
      if (now === value) break;
      step += now < value ? 1 : -1;
      await to(step);
    }
    await pointer.up();
    if ((await this.valueOf(name)) !== value) throw new Error(`${name} cannot be dragged to ${value}`);
  }

  /** Presses a key so many times on a control. */
  async keys(control: Locator, key: string, times = 1): Promise<void> {
    await control.focus();
    for (let i = 0; i < times; i += 1) await this.page.keyboard.press(key);
  }

  /** Turns a drawn knob or wheel by so many degrees with the mouse, clockwise being positive. */
  async turn(control: Locator, degrees: number): Promise<void> {
    await control.scrollIntoViewIfNeeded();
    const box = await control.boundingBox();
    if (!box) throw new Error('the control has no box');
    const to = (angle: number) => {
      const radians = (angle * Math.PI) / 180;
      const reach = Math.min(box.width, box.height) / 3;
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      return this.page.mouse.move(x + reach * Math.sin(radians), y - reach * Math.cos(radians));
    };
    await to(0);
    await this.page.mouse.down();
    const moves = Math.ceil(Math.abs(degrees) / 40);
    for (let i = 1; i <= moves; i += 1) await to((degrees * i) / moves);
    await this.page.mouse.up();
  }

  /** Clicks a slider at a fraction of its length. */
  async slide(control: Locator, fraction: number): Promise<void> {
    const box = await control.boundingBox();
    if (!box) throw new Error('the slider has no box');
    const x = Math.min(box.width - 4, Math.max(4, box.width * fraction));
    await control.click({ position: { x, y: box.height / 2 } });
  }

  /** Waits until the panel shows the state, for which the machine goes on for a moment. */
  async drawn(): Promise<void> {
    await this.page.evaluate(
      `new Promise((done) => { window.timeRuns = true; setTimeout(() => { window.timeRuns = false; done(); }, ${DRAWN_MS}); })`,
    );
  }

  /** What axe-core finds broken, each rule with its elements and why. */
  async axe(): Promise<string[]> {
    await this.page.addScriptTag({ path: AXE });
    return this.page.evaluate(
      `(async () => (await axe.run({ iframes: false, preload: false })).violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary)))()`,
    );
  }

  /** Pixels by which the page overflows sideways. */
  overflow(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - innerWidth');
  }

  /** Leaves the panel for its manual. */
  async readManual(): Promise<void> {
    await this.page.goto(this.page.url().replace('index.html', 'manual.html'));
  }

  /** Ten hours after a fault in one tick and in many, from cold: both states as JSON. */
  async tenHours(fault: string): Promise<[string, string]> {
    const ran = (how: string) =>
      this.page.evaluate<string>(
        `(() => { const m = window.machine; m.reset(); m.inject(${JSON.stringify(fault)}); ${how}; return JSON.stringify(m.state()); })()`,
      );
    return [await ran('m.tick(36000)'), await ran('for (let n = 0; n < 3600; n += 1) m.tick(10)')];
  }
}

/** A tap, and the click that comes some time after the finger has gone: or the simulation would run ahead of the hand. */
async function tap(node: Locator): Promise<void> {
  await node.scrollIntoViewIfNeeded();
  const clicked = node.evaluate(
    (one) => new Promise<void>((done) => one.addEventListener('click', () => done(), { once: true })),
  );
  await node.tap();
  await clicked;
}
