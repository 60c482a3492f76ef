import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser as launch, Panel } from '../helpers/panel.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'site', 'machines', 'caldecote-puller');

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

const button = (name: string) => panel.page.getByRole('button', { name, exact: true });
const rocker = (name: string) => panel.page.getByRole('switch', { name, exact: true });
const knob = (name: string) => panel.page.getByRole('slider', { name, exact: true });
const cock = (group: string, place: string) =>
  panel.page.getByRole('group', { name: group }).getByRole('radio', { name: place, exact: true });

/** A knob: what its position is called in the state, degrees for one unit, and how far one key moves it. */
const KNOBS = {
  'Pull speed': { key: 'pullSpeed', degrees: 80, stride: 0.1 },
  'Argon flow': { key: 'argonValve', degrees: 7, stride: 1 },
  'Seed rotation': { key: 'rotation', degrees: 9, stride: 1 },
} as const;
type Knob = keyof typeof KNOBS;

/** How a hand works each kind of control: with the mouse, or with keys alone. */
interface Hand {
  press(control: Locator): Promise<void>;
  knob(name: Knob, value: number): Promise<void>;
  melt(degrees: number): Promise<void>;
  jog(way: -1 | 0 | 1): Promise<void>;
  choose(radio: Locator): Promise<void>;
}

const standing = async (name: Knob) => Number((await panel.pass(0))[KNOBS[name].key]);

const mouse: Hand = {
  press: (control) => control.click(),
  knob: async (name, value) => panel.turn(knob(name), (value - (await standing(name))) * KNOBS[name].degrees),
  melt: async (degrees) => {
    const wheel = panel.page.locator('[data-digit="2"]');
    for (let at = Number((await panel.pass(0)).meltSet); at < degrees; at += 10) {
      await wheel.click({ position: { x: 20, y: 12 } });
    }
  },
  jog: async (way) => {
    const box = await knob('Jog').boundingBox();
    if (!box) throw new Error('the jog has no box');
    await knob('Jog').click({ position: { x: box.width / 2, y: box.height * (0.5 - 0.35 * way) } });
  },
  choose: (radio) => radio.click(),
};

const keyboard: Hand = {
  press: (control) => panel.keys(control, 'Space'),
  knob: async (name, value) => {
    const presses = Math.round((value - (await standing(name))) / KNOBS[name].stride);
    await panel.keys(knob(name), presses < 0 ? 'ArrowDown' : 'ArrowUp', Math.abs(presses));
  },
  melt: async (degrees) => {
    const presses = (degrees - Number((await panel.pass(0)).meltSet)) / 10;
    await panel.keys(panel.page.getByRole('spinbutton', { name: 'Melt set' }), 'PageUp', presses);
  },
  jog: async (way) => {
    await panel.keys(knob('Jog'), 'Home');
    await panel.keys(knob('Jog'), 'ArrowUp', way + 1);
  },
  choose: async (radio) => {
    await radio.focus();
    await panel.page.keyboard.press('Space');
  },
};

/** The handbook's Normal operation, steps 1 to 3: a quiet melt at 1420. */
async function meltDown(hand: Hand): Promise<void> {
  await hand.press(rocker('Pump'));
  await panel.until((state) => Number(state.pressure) < 10, 40);
  await hand.knob('Argon flow', 20);
  await hand.melt(1420);
  await hand.press(rocker('Heater'));
  const state = await panel.until((now) => now.molten === 1 && Math.abs(Number(now.pyrometer) - 1420) < 1.5, 200);
  expect(state.alarms).toEqual([]);
}

/** Steps 4 to 8: seed, neck, shoulder, body. */
async function grow(hand: Hand): Promise<void> {
  await hand.knob('Seed rotation', 15);
  await hand.press(rocker('Crucible follow'));
  await hand.knob('Pull speed', 2);
  await hand.jog(-1);
  await panel.until((state) => state.dipped === true, 30);
  await panel.until((state) => Number(state.length) >= 25, 30);
  await hand.knob('Pull speed', 0.6);
  await panel.until((state) => Number(state.diameter) >= 65, 90);
  await hand.knob('Pull speed', 1);
}

describe.each([
  ['by mouse', mouse],
  ['by keyboard alone', keyboard],
])('the handbook, followed %s', (_how, hand) => {
  it('draws a single crystal from a cold charge and racks it', async () => {
    panel = await Panel.open(browser, FOLDER);
    await meltDown(hand);
    await grow(hand);
    const body = await panel.until((state) => Number(state.length) > 180, 200);
    expect(body).toMatchObject({ single: true, alarms: [] });
    expect(Number(body.diameter)).toBeGreaterThan(68);
    expect(Number(body.good)).toBeGreaterThan(80);

    await hand.knob('Pull speed', 3);
    await panel.until((state) => Number(state.diameter) < 15, 90);
    await hand.jog(1);
    const up = await panel.until((state) => Number(state.seedHeight) > 150, 60);
    await hand.jog(0);
    await hand.press(button('Unload'));
    expect((await panel.pass(0)).racked).toBe(up.good);
  });

  it('clears each fault by its recovery, and the crystal is still single', async () => {
    panel = await Panel.open(browser, FOLDER);
    await meltDown(hand);
    await grow(hand);
    await panel.pass(10);
    const trouble = async (jack: string, cap: string) => {
      await hand.press(button(jack));
      await panel.until((state, lit) => state.alarms.includes(lit), 60, { given: cap });
      await hand.press(button('Accept'));
      expect(await panel.pass(0.1)).toMatchObject({ sounding: false, alarms: expect.arrayContaining([cap]) });
    };

    await trouble('Bottle empty', 'ARGON LOW');
    await hand.choose(cock('Argon bottle', 'B'));
    await panel.until((state) => state.alarms.length === 0, 20);

    await trouble('Strainer choked', 'WATER LOW');
    await hand.choose(cock('Water', 'Town'));
    await panel.until((state) => state.alarms.length === 0, 20);

    await trouble('Cable slip', 'CABLE SLACK');
    await hand.press(button('Cable clamp'));
    expect((await panel.pass(1)).alarms).toContain('CABLE SLACK'); // not while it pulls
    await hand.knob('Pull speed', 0);
    await hand.press(button('Cable clamp'));
    await hand.knob('Pull speed', 1);
    const state = await panel.until((now) => !now.alarms.includes('CABLE SLACK'), 5);
    expect(state.single).toBe(true);
  });
});

describe('what is ignored', () => {
  it('lost water trips the furnace, the melt freezes and the pot cracks; the handbook gets a new one', async () => {
    panel = await Panel.open(browser, FOLDER);
    await meltDown(keyboard);
    await button('Strainer choked').click();
    await panel.until((state) => state.alarms.includes('FURNACE TRIP'), 60);
    await panel.until((state) => state.alarms.includes('FREEZING'), 120);
    await panel.until((state) => state.alarms.includes('POT CRACKED'), 300);
    await cock('Water', 'Town').click();
    await panel.until((state) => Number(state.melt) < 900, 900);
    await button('Unload').click();
    await button('Trip reset').click();
    expect((await panel.pass(2)).alarms).toEqual([]);
  });

  it('an empty bottle clouds the window, deceives the pyrometer and costs the structure', async () => {
    panel = await Panel.open(browser, FOLDER);
    await meltDown(keyboard);
    await grow(keyboard);
    await button('Bottle empty').click();
    const state = await panel.until((now) => now.alarms.includes('STRUCTURE LOST') || now.dipped === false, 120);
    expect(Number(state.melt)).toBeGreaterThan(Number(state.pyrometer) + 10);
  });

  it('a slipping cable swells the crystal past its size', async () => {
    panel = await Panel.open(browser, FOLDER);
    await meltDown(keyboard);
    await grow(keyboard);
    await button('Cable slip').click();
    await panel.until((state) => state.alarms.includes('OVERSIZE'), 120);
  });

  it('haste in the neck parts it', async () => {
    panel = await Panel.open(browser, FOLDER);
    await meltDown(keyboard);
    await keyboard.knob('Pull speed', 4);
    await keyboard.jog(-1);
    await panel.until((state) => state.alarms.includes('NECK PARTED'), 60);
  });
});

describe('the panel', () => {
  it('stays finite for ten hours of a growing crystal', async () => {
    panel = await Panel.open(browser, FOLDER);
    await meltDown(keyboard);
    await grow(keyboard);
    const state = await panel.pass(36_000);
    for (const value of Object.values(state)) if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
    expect(Number(state.length)).toBeLessThanOrEqual(642);
  });

  it('is worked by touch on a phone', async () => {
    panel = await Panel.open(browser, FOLDER, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await rocker('Pump').tap();
    await cock('Water', 'Town').tap();
    await panel.page.locator('[data-digit="2"]').tap({ position: { x: 20, y: 12 } });
    // A tap becomes a click a moment after it is over.
    await expect.poll(() => panel.pass(0)).toMatchObject({ pump: true, waterFrom: 'TOWN', meltSet: 1390 });
  });

  it.each([390, 768, 1440, 1920])('fits %i px, with nothing for axe to find cold or in alarm', async (width) => {
    panel = await Panel.open(browser, FOLDER, { viewport: { width, height: 900 } });
    expect(await panel.overflow()).toBeLessThanOrEqual(1);
    expect(await panel.axe()).toEqual([]);
    for (const jack of ['Bottle empty', 'Strainer choked', 'Cable slip']) await button(jack).click();
    await panel.pass(8);
    expect(await panel.axe()).toEqual([]);
  });
});
