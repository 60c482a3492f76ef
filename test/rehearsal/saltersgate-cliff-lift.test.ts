import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MACHINE_FILES } from '../../src/catalogue/entry.ts';
import type { Hand } from '../helpers/hands.ts';
import { Panel, openBrowser } from '../helpers/panel.ts';
import { folderOf, judge, pieceOf } from './judge.ts';

const SLUG = 'saltersgate-cliff-lift';
let browser: Browser;
let panel: Panel;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  if (!panel) return;
  expect(panel.errors).toEqual([]);
  await panel.close();
});

const POSITIONS = { 'Brake wheel': 'brakeWheel', 'Fill cock': 'fillCock', 'Pump starter': 'starter' };

const open = async (width = 1440, height = 900, hasTouch = false) => {
  panel = await Panel.open(browser, folderOf(SLUG), { positions: POSITIONS, viewport: { width, height }, hasTouch });
};

/** The first five steps of Normal operation: primed, pumping, gates locked, ballast in, line clear. */
async function makeReady(hand: Hand): Promise<void> {
  for (let stroke = 0; stroke < 5; stroke += 1) await hand.press('Priming plunger');
  for (let stud = 1; stud <= 6; stud += 1) {
    await hand.set('Pump starter', stud);
    await panel.until(({ amperes }) => amperes < 25, 12);
  }
  await panel.until(({ delivery }) => delivery > 56, 20);
  await panel.pass(20);
  await hand.set('Pump starter', 0);
  await fill(hand);
}

async function fill(hand: Hand): Promise<void> {
  await hand.press('Gate key');
  await hand.set('Fill cock', 4);
  await panel.until(({ overbalance }) => overbalance >= 33, 120, { stride: 0.2 });
  await hand.set('Fill cock', 0);
  await hand.press('Station bell');
  await panel.until(({ line }) => line === 'clear', 10);
}

async function runTrip(hand: Hand): Promise<void> {
  await hand.set('Brake wheel', 4);
  await panel.until(({ descended }) => descended >= 60, 90, { stride: 0.25 });
  await hand.set('Brake wheel', 5);
  await panel.until(({ trips }) => trips === 1, 90, { stride: 0.25 });
  await hand.set('Brake wheel', 10);
  await hand.press('Gate key');
  await hand.press('Discharge chain');
  await panel.until(({ ballast, carAtTop }) => ballast[2 - carAtTop] < 5, 60);
  await hand.press('Discharge chain');
}

const hands: [string, () => Hand, [number, number]][] = [
  ['a mouse', () => panel.mouse, [1440, 900]],
  ['the keyboard alone', () => panel.keyboard, [1440, 900]],
  ['a finger on a phone', () => panel.touch, [390, 844]],
];

describe.each(hands)('with %s', (_name, handOf, [width, height]) => {
  test('the steps of Normal operation bring the lift from cold to carrying', async () => {
    await open(width, height, width < 500);
    const hand = handOf();
    await makeReady(hand);
    await runTrip(hand);
    const state = await panel.state();
    expect(state).toMatchObject({ trips: 1, carAtTop: 2, alarms: [], safetyGear: 'armed', dischargeChain: false });
    expect(state.carried).toBeGreaterThan(0);
    await panel.drawn();
    expect(await panel.page.locator('[data-tally="trips"]').textContent()).toBe('001');
  });

  test('each fault is set off from the drill box and cleared by its own steps', async () => {
    await open(width, height, width < 500);
    const hand = handOf();
    const fault = async (name: string, flap: string) => {
      await hand.press(name);
      let seen = await panel.pass(1);
      for (let n = 0; n < 60 && !seen.alarms.includes(flap); n += 1) seen = await panel.pass(1);
      expect(seen.alarms).toContain(flap);
      // Restoring alone cures nothing.
      await hand.press('Flap restore');
      expect((await panel.pass(0.5)).alarms).toContain(flap);
    };
    const cleared = async () => {
      await hand.press('Flap restore');
      expect((await panel.pass(30)).alarms).toEqual([]);
    };

    await fault('Weed on screen', 'SCREEN FOUL');
    await hand.set('Pump starter', 0);
    await panel.pass(10);
    for (let stroke = 0; stroke < 4; stroke += 1) await hand.press('Screen rake');
    await cleared();

    await fault('Plug off seat', 'PLUG OFF SEAT');
    await hand.set('Fill cock', 0);
    for (let pull = 0; pull < 6; pull += 1) await hand.press('Discharge chain');
    await cleared();

    await fault('Governor belt off', 'GOVERNOR DEAD');
    await hand.set('Brake wheel', 10);
    await hand.press('Safety gear guard');
    await hand.press('Rearm safety gear');
    await cleared();

    await fault('Sea fret', 'RAILS GREASY');
    await panel.pass(40);
    await hand.set('Brake wheel', 10);
    for (let stroke = 0; stroke < 6; stroke += 1) await hand.press('Sand pedal');
    await cleared();
  }, 120_000);
});

describe('ignoring an alarm', () => {
  test('without a governor a car let run goes into the buffers, and nobody is counted as carried', async () => {
    await open();
    await panel.mouse.press('Governor belt off');
    await panel.pass(8);
    await fill(panel.mouse);
    await panel.mouse.set('Brake wheel', 0);
    const state = await panel.until(({ trips }) => trips === 1);
    expect(state.alarms).toEqual(expect.arrayContaining(['GOVERNOR DEAD', 'BUFFERS STRUCK', 'SAFETY GEAR ON']));
    expect(state.carried).toBe(0);
  });

  test('on greasy rails a car at 4 runs away until the safety gear grips, and stands on the line', async () => {
    await open();
    await panel.pass(10);
    await panel.mouse.press('Sea fret');
    await panel.pass(45);
    await fill(panel.mouse);
    await panel.mouse.set('Brake wheel', 4);
    const state = await panel.until(({ alarms }) => alarms.includes('SAFETY GEAR ON'));
    const stood = await panel.until(({ speed }) => speed === 0);
    expect(stood.descended).toBeGreaterThan(state.descended);
    expect((await panel.pass(60)).descended).toBe(stood.descended);
    // And it is brought in after rearming, as the manual says.
    await panel.mouse.set('Brake wheel', 10);
    await panel.mouse.press('Safety gear guard');
    await panel.mouse.press('Rearm safety gear');
    for (let stroke = 0; stroke < 8; stroke += 1) await panel.mouse.press('Sand pedal');
    await panel.mouse.press('Flap restore');
    await panel.mouse.set('Brake wheel', 4);
    await panel.until(({ descended }) => descended >= 60, 90, { stride: 0.25 });
    await panel.mouse.set('Brake wheel', 5);
    const home = await panel.until(({ trips }) => trips === 1);
    expect(home.alarms).toEqual([]);
  });

  test('with weed on the screen the running pump loses its water and trips', async () => {
    await open();
    for (let stroke = 0; stroke < 5; stroke += 1) await panel.mouse.press('Priming plunger');
    for (let stud = 1; stud <= 6; stud += 1) {
      await panel.mouse.set('Pump starter', stud);
      await panel.until(({ amperes }) => amperes < 25, 12);
    }
    await panel.mouse.press('Weed on screen');
    const state = await panel.until(({ alarms }) => alarms.includes('PUMP TRIPPED'), 120);
    expect(state.starter).toBe(0);
    // The rake is useless while the pump draws, and the pump will not deliver until it is primed afresh.
    expect(state.prime).toBeLessThan(0.6);
  });

  test('a plug off its seat lets the ballast away: the car does not start', async () => {
    await open();
    await fill(panel.mouse);
    await panel.mouse.press('Plug off seat');
    await panel.pass(90);
    await panel.mouse.set('Brake wheel', 0);
    expect((await panel.pass(20)).descended).toBe(0);
  });

  test('a starter that is hurried trips on overload', async () => {
    await open();
    await panel.page.evaluate('window.machine.reset()');
    await panel.keyboard.press('Pump starter');
    await panel.page.keyboard.press('End');
    const state = await panel.pass(2);
    expect(state).toMatchObject({ starter: 0, alarms: ['PUMP TRIPPED'] });
  });

  test('a car sent off without the bell drops a flap', async () => {
    await open();
    await panel.mouse.press('Gate key');
    await panel.mouse.set('Fill cock', 4);
    await panel.until(({ overbalance }) => overbalance >= 33, 120, { stride: 0.2 });
    await panel.mouse.set('Brake wheel', 4);
    expect((await panel.pass(5)).alarms).toEqual(['RAN UNCLEARED']);
  });
});

describe('the panel', () => {
  test('stays finite for ten hours, in one tick or in many', async () => {
    await open();
    const [once, many] = await panel.tenHours('Sea fret');
    expect(many).toBe(once);
    expect(once).not.toMatch(/null/);
  });

  test.each([
    [390, 844],
    [768, 1024],
    [1440, 900],
    [1920, 1080],
  ])('has no fault that axe-core finds, and no sideways overflow, at %i px', async (width, height) => {
    await open(width, height);
    const overflow = await panel.page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    // Flaps down and pegs turned, so that their colours are judged too.
    await panel.page.evaluate(
      `for (const fault of window.machine.faults) window.machine.inject(fault); window.machine.tick(40)`,
    );
    await panel.drawn();
    expect(await panel.axe()).toEqual([]);
  });

  test('the manual has no fault that axe-core finds', async () => {
    await open();
    await panel.readManual();
    expect(await panel.axe()).toEqual([]);
  });

  test('is silent until a hand touches it', async () => {
    await open();
    const contexts = `(() => { const Real = window.AudioContext; window.made = 0; window.AudioContext = function () { window.made += 1; return new Real(); }; })()`;
    await panel.page.evaluate(contexts);
    await panel.page.evaluate(`window.machine.inject('Sea fret'); window.machine.tick(40)`);
    await panel.drawn();
    expect(await panel.page.evaluate('window.made')).toBe(0);
    await panel.mouse.press('Sand pedal');
    expect(await panel.page.evaluate('window.made')).toBe(1);
  });
});

describe('the gates', () => {
  test('find nothing in the finished machine', async () => {
    expect(await judge(SLUG, 'final')).toEqual([]);
  }, 120_000);

  test('find the overflow on a phone, and only that, in the first version', async () => {
    expect(await judge(SLUG, 'first')).toEqual(['layout/phone']);
  }, 120_000);

  test('the four files are of the size that is asked for', async () => {
    const piece = await pieceOf(SLUG);
    const bytes = MACHINE_FILES.reduce((sum, file) => sum + Buffer.byteLength(piece.files[file]), 0);
    expect(bytes).toBeGreaterThan(60_000);
    expect(bytes).toBeLessThan(150_000);
  });
});
