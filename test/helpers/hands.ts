import type { Locator, Page } from 'playwright-core';

/** A way to work a panel by its controls' accessible names. */
export interface Hand {
  press(name: string | RegExp): Promise<void>;
  /** Brings a lever, wheel or knob to a value. */
  set(name: string, value: number): Promise<void>;
  /** Takes one of several places, which are radio buttons underneath. */
  choose(name: string): Promise<void>;
}

/** What a hand needs of the panel it works. */
export interface Reach {
  page: Page;
  control(name: string | RegExp): Locator;
  place(name: string): Locator;
  valueOf(name: string): Promise<number>;
}

interface Pointer {
  down(): Promise<unknown>;
  move(x: number, y: number): Promise<unknown>;
  up(): Promise<unknown>;
}

/** Longer than the moment over which Chromium takes a finger's speed (about 50 ms). */
const RESTS_MS = 120;

/** Real clicks, and a drag. */
export const mouseOn = (panel: Reach): Hand => ({
  press: (name) => panel.control(name).click(),
  set: (name, value) => {
    const { mouse } = panel.page;
    return drag(panel, name, value, {
      down: () => mouse.down(),
      move: (x, y) => mouse.move(x, y),
      up: () => mouse.up(),
    });
  },
  choose: (name) => panel.place(name).click(),
});

/** Taps, and a finger that is kept on the screen. */
export const fingerOn = (panel: Reach): Hand => ({
  press: (name) => tap(panel.control(name)),
  set: async (name, value) => {
    const client = await panel.page.context().newCDPSession(panel.page);
    let at = { x: 0, y: 0 };
    let on = false;
    const send = (type: string) =>
      client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [at] } as never);
    await drag(panel, name, value, {
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
        await panel.page.waitForTimeout(RESTS_MS);
        await send('touchMove');
        await send('touchEnd');
      },
    });
    await client.detach();
  },
  choose: (name) => tap(panel.place(name)),
});

/** Tab to a control, then keys; nothing else. */
export const keysOn = (panel: Reach): Hand => ({
  press: async (name) => {
    await tabTo(panel, panel.control(name));
    await panel.page.keyboard.press('Enter');
  },
  set: async (name, value) => {
    await tabTo(panel, panel.control(name));
    for (let n = 0; n < 60; n += 1) {
      const now = await panel.valueOf(name);
      if (now === value) return;
      await panel.page.keyboard.press(now < value ? 'ArrowUp' : 'ArrowDown');
    }
    throw new Error(`${name} does not come to ${value}`);
  },
  choose: async (name) => {
    // Tab comes to the one of the group that is chosen; arrows go on from there.
    const wanted = panel.place(name);
    await tabTo(panel, wanted);
    for (let n = 0; n < 5 && !(await wanted.isChecked()); n += 1) await panel.page.keyboard.press('ArrowDown');
    if (!(await wanted.isChecked())) throw new Error(`${name} is not reached with arrows`);
  },
});

/** Tab, or Shift and Tab when the control stands before what has the focus. Radio buttons of one name are one stop. */
async function tabTo(panel: Reach, wanted: Locator): Promise<void> {
  for (let n = 0; n < 80; n += 1) {
    const way = await wanted.evaluate((node) => {
      const focus = node.ownerDocument.activeElement;
      if (focus === node || (node.type === 'radio' && node.name === focus.name)) return null;
      return focus.compareDocumentPosition(node) === focus.DOCUMENT_POSITION_PRECEDING ? 'Shift+Tab' : 'Tab';
    });
    if (!way) return;
    await panel.page.keyboard.press(way);
  }
  throw new Error(`${wanted} is not reached with Tab`);
}

/** Small moves of a held pointer, until it stands where it should: round the `.pivot` if there is one, or else up. */
async function drag(panel: Reach, name: string, value: number, pointer: Pointer): Promise<void> {
  const lever = panel.control(name);
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
    const now = await panel.valueOf(name);
    if (now === value) break;
    step += now < value ? 1 : -1;
    await to(step);
  }
  await pointer.up();
  if ((await panel.valueOf(name)) !== value) throw new Error(`${name} cannot be dragged to ${value}`);
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
