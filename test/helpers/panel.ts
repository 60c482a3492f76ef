import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, type Locator, type Page, chromium } from 'playwright-core';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { type Hand, fingerOn, keysOn, mouseOn } from './hands.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A machine's state, as `window.machine.state()` tells it; each machine has one of its own. */
// biome-ignore lint/suspicious/noExplicitAny: each machine has a state of its own.
export type State = { alarms: string[] } & Record<string, any>;

export async function openBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: await findChromium(), args });
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

  /** One of several places, which are radio buttons underneath. */
  place(name: string): Locator {
    return this.page.getByRole('radio', { name, exact: true });
  }

  /** Real clicks, and a drag. */
  mouse: Hand = mouseOn(this);
  /** Taps, and a finger that is kept on the screen. */
  touch: Hand = fingerOn(this);
  /** Tab to it, then keys; nothing else. */
  keyboard: Hand = keysOn(this);

  /** Where what hands `set` stands now. */
  valueOf(name: string): Promise<number> {
    return this.page.evaluate(`window.machine.state()[${JSON.stringify(this.positions[name])}]`);
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
