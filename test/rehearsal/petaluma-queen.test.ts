import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Hand } from '../helpers/hands.ts';
import { openBrowser, Panel, type State } from '../helpers/panel.ts';
import { folderOf, judge } from './judge.ts';

const SLUG = 'petaluma-queen';
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

const POSITIONS = {
  'Wafer screw': 'waferScrew',
  'Drip valve': 'dripValve',
  Damper: 'damper',
  'Turning lever': 'turningLever',
};

const open = async (width = 1440, height = 900, hasTouch = false) => {
  panel = await Panel.open(browser, folderOf(SLUG), { positions: POSITIONS, viewport: { width, height }, hasTouch });
};

/** The wafer screw clicks at quarter degrees of a unit: finer moves than the shared hands make. */
const mouse = (): Hand => ({
  ...panel.mouse,
  set: (name, value) => (name === 'Wafer screw' ? turnScrew(name, value) : panel.mouse.set(name, value)),
});

const keyboard = (): Hand => panel.keyboard;

async function turnScrew(name: string, value: number): Promise<void> {
  const { page } = panel;
  const box = await panel.control(name).boundingBox();
  if (!box) throw new Error(`${name} has no box`);
  const now = async () => Number((await panel.state()).waferScrew);
  const to = (step: number) => {
    const angle = step / 12;
    return page.mouse.move(box.x + box.width / 2 + 40 * Math.sin(angle), box.y + box.height / 2 - 40 * Math.cos(angle));
  };
  let step = 0;
  await to(step);
  await page.mouse.down();
  for (let n = 0; n < 90 && (await now()) !== value; n += 1) {
    step += (await now()) < value ? 1 : -1;
    await to(step);
  }
  await page.mouse.up();
  expect(await now()).toBe(value);
}

/** Steps 1 to 6 of Normal operation. */
async function fillCabinet(hand: Hand): Promise<void> {
  await hand.press('Main switch');
  await hand.press('Fan');
  await hand.set('Wafer screw', 99.75);
  await hand.set('Damper', 2);
  await hand.set('Drip valve', 4);
  await panel.until(({ dryBulb, wetBulb }) => dryBulb > 99 && wetBulb > 84 && wetBulb < 88, 120);
  await truck(hand);
  await hand.press('Turner clock');
}

async function truck(hand: Hand): Promise<void> {
  await hand.press('Door latch');
  await hand.press(/^Tray truck/);
  await hand.press('Door latch');
}

describe.each([
  ['a mouse', mouse],
  ['the keyboard alone', keyboard],
] as const)('with %s', (_name, handOf) => {
  test('the steps of Normal operation bring six dozen eggs from cold to chicks', async () => {
    await open();
    const hand = handOf();
    await fillCabinet(hand);
    const running = await panel.pass(60);
    expect(running).toMatchObject({ stage: 'set', fertile: 72, alarms: [] });
    expect(running.dryBulb).toBeGreaterThan(98);
    expect(running.dryBulb).toBeLessThan(101.5);

    await hand.press('Candler');
    await panel.drawn();
    expect(await panel.page.locator('[data-sample]').textContent()).toMatch(/^Egg 2 of 12/);

    const days: [number, number, number][] = [
      [11, 3, 5.5],
      [14, 4, 7],
      [17, 5, 8.5],
    ];
    for (const [day, damper, drip] of days) {
      await untilDay(day);
      await hand.set('Damper', damper);
      await hand.set('Drip valve', drip);
    }
    await untilDay(18);
    await hand.press('Turner clock');
    await hand.set('Turning lever', 0);
    await panel.until(({ tilt }) => Math.abs(tilt) < 1, 20);
    await truck(hand);
    await hand.set('Drip valve', 10);
    const hatched = await untilDay(21.9);
    expect(hatched.chicks).toBeGreaterThan(60);
    expect(hatched.alarms).toEqual([]);
    await truck(hand);
    expect(await panel.state()).toMatchObject({ stage: 'empty', shipped: hatched.chicks });
  });

  test('each fault is set off by its tag and cleared by its own steps', async () => {
    await open();
    const hand = handOf();
    await fillCabinet(hand);
    await panel.pass(60);
    const trouble = async (tag: string, strip: string) => {
      await hand.press(tag);
      const seen = await panel.until(({ alarms }) => alarms.length > 0, 60);
      expect(seen.alarms).toContain(strip);
      // Silence stops the bell and cures nothing.
      await hand.press('Silence');
      expect(await panel.pass(0.5)).toMatchObject({ ringing: false, alarms: expect.arrayContaining([strip]) });
    };
    const cleared = (strip: string) =>
      panel.page.evaluate(`window.machine.tick(2), window.machine.state().alarms.includes(${JSON.stringify(strip)})`);

    await trouble('Relay welded', 'RELAY STUCK');
    await hand.press('Relay wiper');
    expect(await cleared('RELAY STUCK')).toBe(true); // still: the main switch is on
    await hand.press('Main switch');
    await hand.press('Relay wiper');
    await hand.press('Main switch');
    expect(await cleared('RELAY STUCK')).toBe(false);
    await settled(hand);

    await trouble('Turner jam', 'PIN SHEARED');
    await hand.press('Turner clock');
    await hand.set('Turning lever', 0);
    await hand.press('Shear pin');
    await hand.press('Turner clock');
    expect(await cleared('PIN SHEARED')).toBe(false);
    await settled(hand);

    await trouble('Belt off', 'BELT OFF');
    await hand.press('Fan');
    await panel.until(({ fanRpm }) => fanRpm < 20, 20);
    await hand.press('Belt tensioner');
    await hand.press('Belt tensioner');
    await hand.press('Fan');
    expect(await cleared('BELT OFF')).toBe(false);
    await settled(hand);

    await trouble('Line down', 'LINE DEAD');
    await hand.choose('Plant');
    for (let pull = 0; pull < 3; pull += 1) await hand.press('Starter cord');
    await panel.pass(6);
    expect(await cleared('LINE DEAD')).toBe(false);
    await panel.until(({ mains }) => mains, 200);
    await hand.choose('Line');
    await settled(hand);
    expect((await panel.state()).fertile).toBeGreaterThan(60);
  });
});

const untilDay = (day: number): Promise<State> =>
  panel.page.evaluate(
    `(() => { const m = window.machine; for (let n = 0; n < 2000 && m.state().day < ${day}; n += 1) m.tick(0.5); return m.state(); })()`,
  );

/** As the book says: door open until the heat is out, the red button, door shut. */
async function resetLimit(hand: Hand): Promise<void> {
  if (!(await panel.state()).limitOpen) return;
  await hand.press('Door latch');
  await panel.until(({ topBulb }) => topBulb < 100, 60);
  await hand.press('Limit reset');
  await hand.press('Door latch');
}

async function settled(hand: Hand): Promise<void> {
  await panel.pass(3);
  await resetLimit(hand);
  await panel.until(({ alarms }) => alarms.length === 0, 120);
}

describe('ignoring an alarm', () => {
  const running = async () => {
    await open();
    await fillCabinet(keyboard());
    await panel.pass(120);
  };

  test('a welded relay cooks eggs until the limit opens, and then they chill', async () => {
    await running();
    await panel.mouse.press('Relay welded');
    await panel.until(({ alarms }) => alarms.includes('LIMIT OPEN'), 120);
    const late = await panel.pass(240);
    expect(late.alarms).toEqual(expect.arrayContaining(['LIMIT OPEN', 'CHILLED']));
    expect(late.fertile).toBeLessThan(65);
  });

  test('a sheared pin leaves eggs on one side, and germs stick', async () => {
    await running();
    await panel.mouse.press('Turner jam');
    const late = await panel.pass(200);
    expect(late.alarms).toEqual(expect.arrayContaining(['PIN SHEARED', 'NOT TURNED']));
    expect(late.fertile).toBeLessThan(60);
  });

  test('a dead line lets all of them go cold', async () => {
    await running();
    await panel.mouse.press('Line down');
    const late = await panel.pass(145);
    expect(late.alarms).toEqual(expect.arrayContaining(['LINE DEAD', 'CHILLED']));
    expect(late.fertile).toBeLessThan(70);
  });

  test('a damper that stays where it stood on day 3 lets the eggs cook themselves', async () => {
    await running();
    const late = await untilDay(20.5);
    expect(late.alarms).toContain('HOT EGGS');
    expect(late.fertile).toBeLessThan(50);
  });
});

describe('the panel', () => {
  test('is worked with a finger on a phone', async () => {
    await open(390, 844, true);
    await panel.touch.press('Main switch');
    await panel.touch.press('Fan');
    await panel.touch.choose('Off');
    await panel.touch.set('Drip valve', 10);
    expect(await panel.pass(3)).toMatchObject({ dripValve: 10, lineSwitch: 'OFF', alarms: ['LINE DEAD'] });
  });

  test('stays finite for ten hours, in one tick or in many', async () => {
    await open();
    const [once, many] = await panel.tenHours('Belt off');
    expect(many).toBe(once);
    expect(once).not.toMatch(/null/);
  });

  test.each([390, 768, 1440, 1920])('has nothing for axe-core and no sideways overflow at %i px', async (width) => {
    await open(width, width === 390 ? 844 : 900);
    expect(await panel.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(
      0,
    );
    // Strips lit and tags pulled, so that their colours are judged too.
    await panel.page.evaluate('for (const fault of window.machine.faults) window.machine.inject(fault);');
    await panel.pass(20);
    await panel.drawn();
    expect(await panel.axe()).toEqual([]);
  });

  test('has a manual with nothing for axe-core', async () => {
    await open();
    await panel.readManual();
    expect(await panel.axe()).toEqual([]);
  });
});

describe('the gates', () => {
  test('find nothing in the finished machine', async () => {
    expect(await judge(SLUG, 'final')).toEqual([]);
  }, 120_000);

  test('find the fault that rings nothing, and only that, in the first version', async () => {
    expect(await judge(SLUG, 'first')).toEqual(['alarm/fault', 'fault/panel']);
  }, 120_000);
});
