import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser as launch, Panel, type State } from '../helpers/panel.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'site', 'machines', 'kelburn-heart-lung');

let browser: Browser;
let panel: Panel;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
afterEach(async () => {
  expect(panel.errors).toEqual([]);
  await panel.close();
});

/** Opens the panel for somebody who asks for less motion, so that drawing does not slow the hands. */
const open = () => Panel.open(browser, FOLDER, { reducedMotion: 'reduce' });
const button = (name: string) => panel.page.getByRole('button', { name, exact: true });
const toggle = (name: string) => panel.page.getByRole('switch', { name, exact: true });
const slider = (name: string) => panel.page.getByRole('slider', { name, exact: true });
const bottle = (letter: string) => panel.page.getByRole('radio', { name: `Bottle ${letter}`, exact: true });
const crank = () => panel.page.getByRole('spinbutton', { name: 'Hand crank' });

/** What is set by position: its name in the state, how far one key moves it, and how a mouse reaches a value. */
const SETTINGS = {
  'Arterial pump': { key: 'arterialPump', stride: 0.1, turn: 50 },
  Discs: { key: 'discsSet', stride: 5, turn: 1.75 },
  Oxygen: { key: 'oxygenSet', stride: 0.5, turn: 30 },
  'Venous clamp': { key: 'venousClamp', stride: 1, from: 0.8, to: 0.2 },
  'Donor clamp': { key: 'donorClamp', stride: 1, from: 0.83, to: 0.19 },
  Suction: { key: 'suction', stride: 1, from: 0.9, to: 0.1 },
  Water: { key: 'waterMixer', stride: 1 },
} as const;
type Setting = keyof typeof SETTINGS;

/** How a hand works each kind of control: with the mouse, or with keys alone. */
interface Hand {
  press(control: Locator): Promise<void>;
  set(name: Setting, value: number): Promise<void>;
  crank(turns: number): Promise<void>;
}

/**
 * Lets simulated time pass in the page until the state is as wanted; `wanted` may use nothing but what it is given.
 * @throws when it is not so within `limit` seconds.
 */
async function until(wanted: (state: State, name: string) => boolean, limit: number, name = ''): Promise<State> {
  const [met, state] = await panel.page.evaluate<[boolean, State]>(
    `(() => {
      const wanted = ${wanted}, machine = window.machine;
      for (let passed = 0; passed <= ${limit}; passed += 0.5) {
        if (wanted(machine.state(), ${JSON.stringify(name)})) return [true, machine.state()];
        machine.tick(0.5);
      }
      return [false, machine.state()];
    })()`,
  );
  if (!met) throw new Error(`not so within ${limit} s: ${JSON.stringify(state)}`);
  return state;
}

const standing = async (name: Setting) => Number((await panel.pass(0))[SETTINGS[name].key]);

const mouse: Hand = {
  press: (control) => control.click(),
  async set(name, value) {
    const how = SETTINGS[name];
    if ('turn' in how) return panel.turn(slider(name), (value - (await standing(name))) * how.turn);
    const box = await slider(name).boundingBox();
    if (!box) throw new Error(`${name} has no box`);
    if ('from' in how) {
      const y = box.height * (how.from + ((how.to - how.from) * value) / 10);
      return slider(name).click({ position: { x: box.width / 2, y } });
    }
    // The mixer's knob goes round its pivot from 66 degrees left to 66 right.
    const angle = ((-66 + ((value - 5) / 37) * 132) * Math.PI) / 180;
    const x = 95 + 70 * Math.sin(angle);
    const y = 112 - 70 * Math.cos(angle);
    await slider(name).click({ position: { x: (box.width * x) / 190, y: (box.height * y) / 130 } });
  },
  crank: (turns) => panel.turn(crank(), 360 * turns),
};

const keyboard: Hand = {
  press: (control) => panel.keys(control, 'Space'),
  async set(name, value) {
    const presses = Math.round((value - (await standing(name))) / SETTINGS[name].stride);
    const far = Math.trunc(Math.abs(presses) / 10);
    await panel.keys(slider(name), presses < 0 ? 'PageDown' : 'PageUp', far);
    await panel.keys(slider(name), presses < 0 ? 'ArrowDown' : 'ArrowUp', Math.abs(presses) - far * 10);
  },
  crank: (turns) => panel.keys(crank(), 'ArrowUp', turns),
};

/** The card's Normal operation, steps 1 to 3: the cylinder primed and red, the blood kept from clotting. */
async function prime(hand: Hand): Promise<void> {
  await hand.press(toggle('Mains'));
  await hand.set('Donor clamp', 10);
  await until((state) => Number(state.level) >= 1500, 30);
  await hand.set('Donor clamp', 0);
  await hand.set('Discs', 110);
  await hand.set('Oxygen', 5);
  const state = await until((now) => Number(now.arterialSaturation) > 0.95, 10);
  expect(state.alarms).toEqual([]);
  await hand.set('Water', 15);
  await hand.press(button('Heparin'));
}

/** Steps 4 and 5: on bypass, cold, and the surgeon sewing. */
async function bypass(hand: Hand): Promise<void> {
  await hand.press(toggle('Arterial clamp'));
  await hand.set('Arterial pump', 4);
  await hand.set('Venous clamp', 10);
  const state = await until((now) => now.stage === 'open', 60);
  expect(state).toMatchObject({ rhythm: 'fibrillating', alarms: [] });
  expect(Number(state.level)).toBeGreaterThan(1500);
  await hand.set('Water', 22);
  await hand.set('Suction', 2);
}

describe.each([
  ['by mouse', mouse],
  ['by keyboard alone', keyboard],
])('the theatre card, followed %s', (_how, hand) => {
  it('carries a patient from a cold trolley to a heart that carries itself', async () => {
    panel = await open();
    await prime(hand);
    await bypass(hand);
    const sewn = await until((state) => state.stage === 'closed', 90);
    expect(sewn).toMatchObject({ stitches: 24, alarms: [] });

    await hand.set('Suction', 0);
    await hand.set('Water', 40);
    await until((state) => Number(state.bodyTemperature) >= 34.5, 120);
    await hand.press(button('Countershock'));
    await hand.set('Venous clamp', 0);
    await until((state) => Number(state.venousPressure) >= 6, 20);
    await hand.set('Arterial pump', 0);
    await until((state) => state.flow === 0, 10);
    await hand.press(toggle('Arterial clamp'));
    const off = await until((state) => state.stage === 'off', 15);
    expect(off).toMatchObject({ rhythm: 'beating', starved: 0, alarms: [] });

    await hand.press(button('Protamine'));
    expect((await panel.pass(0.1)).heparin).toBe(0);
    await hand.press(button('Next case'));
    expect(await panel.pass(0)).toMatchObject({ cases: 1, stage: 'ready', stitches: 0 });
  });

  it('clears each fault by its recovery, and nobody starves', async () => {
    panel = await open();
    await prime(hand);
    await bypass(hand);
    const trouble = async (plug: string, tally: string) => {
      await hand.press(button(plug));
      await until((state, name) => state.alarms.includes(name), 30, tally);
    };

    await trouble('Fuse blown', 'MAINS FAILED');
    const stopped = await until((state) => state.rotor === 0, 15);
    await hand.crank(4);
    const cranked = await panel.pass(4);
    expect(Number(cranked.turns) - Number(stopped.turns)).toBeGreaterThan(3);
    await hand.press(button('Fuse'));
    await until((state) => state.alarms.length === 0 && Number(state.flow) > 3.8, 20);

    await trouble('Bottle empty', 'OXYGEN LOW');
    await hand.press(button('Silence'));
    expect((await panel.pass(0.05)).ringing).toBe(false);
    await hand.press(bottle('B'));
    await until((state) => state.alarms.length === 0 && Number(state.arterialSaturation) > 0.95, 20);

    await trouble('Trap float stuck', 'TRAP SHUT');
    await hand.set('Venous clamp', 0);
    await until((state) => state.alarms.includes('CLUTCH OUT'), 10);
    await hand.press(button('Clutch reset'));
    expect((await panel.pass(0.1)).alarms).toContain('CLUTCH OUT'); // not with the knob up
    await hand.set('Arterial pump', 0);
    await hand.press(toggle('Trap vent'));
    await until((state) => !state.alarms.includes('TRAP SHUT'), 6);
    await hand.press(toggle('Trap vent'));
    await hand.press(button('Clutch reset'));
    await hand.set('Arterial pump', 4);
    await hand.set('Venous clamp', 10);
    await until((state) => state.alarms.length === 0 && Number(state.flow) > 3.8, 20);

    await trouble('Steam valve stuck', 'WATER HOT');
    await hand.press(toggle('Steam cock'));
    await hand.set('Water', 5);
    await until((state) => state.alarms.length === 0, 15);
    await hand.press(toggle('Steam cock'));
    await hand.set('Water', 22);
    const state = await panel.pass(10);
    expect(state).toMatchObject({ alarms: [], starved: 0 });
    expect(Number(state.water)).toBeGreaterThan(18);
  });
});

describe('what is ignored', () => {
  it('a shut trap throws the clutch, starves the patient and stops the list; the next case begins anew', async () => {
    panel = await open();
    await prime(keyboard);
    await bypass(keyboard);
    await button('Trap float stuck').click();
    await until((state) => state.alarms.includes('STARVED'), 60);
    const lost = await until((state) => state.stage === 'lost', 120);
    expect(lost.alarms).toEqual(expect.arrayContaining(['TRAP SHUT', 'CLUTCH OUT', 'PRESSURE LOW', 'STARVED']));
    await keyboard.set('Venous clamp', 0);
    await panel.pass(4);
    await button('Next case').click();
    expect(await panel.pass(1)).toMatchObject({ cases: 0, stage: 'ready', rhythm: 'beating' });
    expect(Number((await panel.pass(0)).starved)).toBeGreaterThan(1);
  });

  it('a level let down draws air, and the air shuts the trap', async () => {
    panel = await open();
    await prime(keyboard);
    await bypass(keyboard);
    await keyboard.set('Venous clamp', 0);
    await until((state) => state.alarms.includes('LEVEL LOW'), 40);
    await until((state) => state.alarms.includes('TRAP SHUT'), 40);
  });

  it('an empty bottle darkens the blood, scalding water breaks it, and without heparin it clots', async () => {
    panel = await open();
    await prime(keyboard);
    await bypass(keyboard);
    await button('Bottle empty').click();
    await button('Steam valve stuck').click();
    await until((state) => state.alarms.includes('DARK BLOOD') && Number(state.plasma) > 60, 60);
    await button('Protamine').click();
    await until((state) => state.alarms.includes('CLOTTING'), 60);
    await toggle('Filter').click();
    expect((await panel.pass(0.1)).alarms).not.toContain('CLOTTING');
  });
});

describe('the panel', () => {
  it('stays finite for ten hours of a patient left on bypass', async () => {
    panel = await open();
    await prime(keyboard);
    await bypass(keyboard);
    const state = await panel.pass(36_000);
    for (const value of Object.values(state)) if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
    expect(Number(state.level)).toBeLessThanOrEqual(3000);
  });

  it('rests while nothing turns: a cold panel asks for few frames', async () => {
    panel = await Panel.open(browser, FOLDER);
    const frames = await panel.page.evaluate<number>(
      `new Promise((done) => {
        const real = window.requestAnimationFrame;
        let asked = 0;
        window.requestAnimationFrame = (call) => { asked += 1; return real(call); };
        setTimeout(() => done(asked), 1000);
      })`,
    );
    expect(frames).toBeGreaterThan(0);
    expect(frames).toBeLessThan(8);
  });

  it('is worked by touch on a phone', async () => {
    panel = await Panel.open(browser, FOLDER, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await toggle('Mains').tap();
    await bottle('B').tap();
    const suction = await slider('Suction').boundingBox();
    await slider('Suction').tap({ position: { x: (suction?.width ?? 0) / 2, y: (suction?.height ?? 0) * 0.5 } });
    // A tap becomes a click a moment after it is over.
    await expect.poll(() => panel.pass(0)).toMatchObject({ mains: true, bottle: 'B', suction: 5 });
  });

  it('fits 390 to 1920 px, with nothing for axe to find cold or in alarm', async () => {
    panel = await Panel.open(browser, FOLDER);
    const at = async (width: number) => {
      await panel.page.setViewportSize({ width, height: 900 });
      expect(await panel.overflow()).toBeLessThanOrEqual(1);
      expect(await panel.axe()).toEqual([]);
    };
    await at(1440);
    await at(390);
    for (const plug of ['Fuse blown', 'Bottle empty', 'Trap float stuck', 'Steam valve stuck']) {
      await button(plug).click();
    }
    await panel.pass(8);
    await panel.page.waitForFunction('document.getAnimations().length === 0');
    await at(768);
    await at(1920);
  });
});
