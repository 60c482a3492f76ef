import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MACHINE_FILES } from '../../src/catalogue/entry.ts';
import type { Hand } from '../helpers/hands.ts';
import { openBrowser, Panel, PHONE, type State } from '../helpers/panel.ts';
import { folderOf, judge, pieceOf, withVersion } from './judge.ts';

const SLUG = 'kittiwake-aft-engine';
const POSITIONS = { Squeeze: 'squeezeSet', Way: 'wayAsked', Slack: 'slackSet', 'Pay out': 'payOutLever' };
let browser: Browser;
let panel: Panel;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  expect(panel.errors).toEqual([]);
  await panel.close();
});

const open = async (options: object = {}, folder = folderOf(SLUG)) => {
  panel = await Panel.open(browser, folder, { positions: POSITIONS, ...options });
};

const PAIRS = [1, 2, 3, 4, 5, 6];

/** Steps 1 to 4 of Normal operation: air, pairs shut, cable on the tyres, 3 knots. */
async function layCable(hand: Hand): Promise<State> {
  await hand.press('Compressor');
  await hand.set('Squeeze', 6);
  for (const pair of PAIRS) await hand.press(`Pair ${pair}`);
  await panel.until(({ squeeze, hold }) => squeeze > 5.8 && hold > 18, 40);
  await hand.press('Stopper');
  await hand.choose('Drive follows ship');
  await hand.set('Slack', 4);
  await hand.set('Pay out', 4);
  await hand.set('Way', 3);
  return panel.until(({ way, payOut }) => way > 2.6 && payOut > way, 60);
}

/** Steps 6 to 8: slow down at the gong, and open the pairs one after another round the housing. */
async function passDummy(hand: Hand): Promise<State> {
  await panel.until(({ toNext }) => toNext < 45, 200);
  await hand.set('Way', 1);
  for (const pair of PAIRS) {
    // The end of the housing, 1.3 m ahead of its middle, is a hand's breadth from where the tyre stands on the cable.
    await panel.until(({ inEngine }, n) => inEngine > 2 * n - 1.8, 90, { stride: 0.1, given: pair });
    await hand.press(`Pair ${pair}`);
    if (pair === 1) continue;
    await panel.until(({ inEngine }, n) => inEngine > 2 * n - 0.4, 30, { stride: 0.1, given: pair });
    await hand.press(`Pair ${pair - 1}`);
  }
  await panel.until(({ inEngine }) => inEngine > 13.6, 30, { stride: 0.1 });
  await hand.press('Pair 6');
  return panel.until(({ sound, lost }) => sound + lost > 0, 60);
}

/** An engine that lays at 3 knots, brought there by the page itself: what it takes by hand is told by the tests of the steps. */
async function laying(): Promise<void> {
  await open();
  await panel.page.evaluate(`(() => {
    const control = (name) => document.querySelector('[data-control="' + name + '"]');
    const up = (name, times) => {
      for (let n = 0; n < times; n += 1) control(name).dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' }));
    };
    for (const name of ['COMPRESSOR', ...[1, 2, 3, 4, 5, 6].map((pair) => 'PAIR ' + pair)]) control(name).click();
    up('SQUEEZE', 12);
    window.machine.tick(15);
    control('STOPPER').click();
    document.querySelector('[value="FOLLOW"]').click();
    up('SLACK', 1);
    up('PAY OUT', 16);
    up('WAY', 6);
    window.machine.tick(35);
  })()`);
  expect(await panel.state()).toMatchObject({ stopper: false, drive: 'FOLLOW', slackSet: 4, wayTold: 3, alarms: [] });
}

const mouse = () => panel.mouse;
const keyboard = () => panel.keyboard;

describe('Normal operation', () => {
  test.each<[string, () => Hand, object]>([
    ['a mouse', mouse, {}],
    ['the keyboard alone', keyboard, {}],
    ['a finger on a phone', () => panel.touch, PHONE],
  ])('with %s, its steps lay cable from cold, and a dummy sound over the sheave', async (_name, handOf, options) => {
    await open(options);
    const hand = handOf();
    expect((await panel.pass(5)).alarms).toEqual([]);
    await layCable(hand);
    const over = await passDummy(hand);
    expect(over).toMatchObject({ sound: 1, lost: 0, condemned: 0, alarms: [] });
    await hand.set('Way', 3);
    const later = await panel.pass(40);
    expect(later.alarms).toEqual([]);
    expect(later.paidOut).toBeGreaterThan(over.paidOut + 30);
    await panel.drawn();
    expect(await panel.page.locator('[data-count="sound"]').textContent()).toBe('1');
  });
});

describe('Faults and recovery', () => {
  test.each<[string, () => Hand]>([
    ['a mouse', mouse],
    ['the keyboard alone', keyboard],
  ])('with %s, each fault is set off by its lock and cleared by its own steps', async (_name, handOf) => {
    await open();
    const hand = handOf();
    await layCable(hand);
    await hand.set('Way', 1); // or the first dummy is in the engine before all four are cleared
    const trouble = async (lock: string, film: string) => {
      await hand.press(lock);
      await panel.until(({ alarms }, name) => alarms.includes(name), 60, { given: film });
      // Accept stops the hooter and cures nothing.
      await hand.press('Accept');
      expect(await panel.pass(0.1)).toMatchObject({ ringing: false, alarms: expect.arrayContaining([film]) });
    };
    const quiet = (most = 60) => panel.until(({ alarms }) => alarms.length === 0, most);

    await trouble('Weed on log', 'LOG DOUBTFUL');
    await hand.choose('Speed from Decca');
    await hand.press('Log rod');
    await panel.pass(10);
    await hand.press('Log rod');
    expect((await quiet()).weed).toBe(false);
    await hand.choose('Speed from log');

    await trouble('Tyre burst', 'TYRE DOWN');
    await hand.press('Pair 4');
    await hand.press('Spare wheel');
    expect((await quiet()).flatTyre).toBe(false);
    await hand.press('Pair 4');

    await trouble('Hose burst', 'BOTTLE LOW');
    await hand.choose('Header B');
    expect((await panel.until(({ bottle, hoseBurst }) => bottle > 4 && !hoseBurst, 90)).alarms).toEqual([]);

    await trouble('Tank foul', 'TANK FOUL');
    await hand.set('Pay out', 0);
    await hand.set('Way', 0);
    await panel.until(({ payOut }) => payOut < 0.1, 10);
    await hand.press('Tank bell');
    expect((await panel.until(({ tankFoul }) => !tankFoul, 20)).condemned).toBeLessThan(5);
    await panel.until(({ way }) => way === 0, 120);
    expect((await quiet()).tripped).toBe(false);
  });
});

describe('ignoring an alarm', () => {
  test('a burst hose takes the squeeze, and the cable takes charge until the stopper falls', async () => {
    await laying();
    await panel.mouse.press('Hose burst');
    await panel.until(({ alarms }) => alarms.includes('HOLD LOW'), 120);
    const run = await panel.until(({ alarms }) => alarms.includes('ENGINE TRIP'), 120);
    expect(run).toMatchObject({ stopper: true, wayTold: 0 });
    expect(run.condemned).toBeGreaterThan(0);
  });

  test('a foul in the tank comes up as a kink and trips the engine', async () => {
    await laying();
    await panel.mouse.press('Tank foul');
    const kink = await panel.until(({ tripped }) => tripped, 60);
    expect(kink.condemned).toBeGreaterThanOrEqual(40);
  });

  test('an engine that follows a weedy log lays loops', async () => {
    await laying();
    await panel.mouse.press('Weed on log');
    const loops = await panel.until(({ alarms }) => alarms.includes('LOOPS LAID'), 120);
    expect((await panel.pass(20)).condemned).toBeGreaterThan(loops.condemned);
  });

  test('a burst tyre left shut chews cable to scrap', async () => {
    await laying();
    await panel.mouse.press('Tyre burst');
    expect((await panel.pass(30)).condemned).toBeGreaterThan(20);
  });

  test('a pair left shut nips the dummy and trips; the book brings the engine back', async () => {
    await laying();
    const nipped = await panel.until(({ alarms }) => alarms.includes('REPEATER NIPPED'), 200, { stride: 0.25 });
    expect(nipped).toMatchObject({ lost: 1, stopper: true, tripped: true });
    await panel.mouse.set('Pay out', 0);
    await panel.mouse.press('Reset key');
    expect(await panel.pass(1)).toMatchObject({ tripped: true }); // the cause is still there
    await panel.mouse.press('Pair 1');
    await panel.pass(1);
    await panel.mouse.press('Reset key');
    expect(await panel.pass(150)).toMatchObject({ tripped: false, alarms: [] });
    await panel.mouse.press('Stopper');
    expect(await panel.pass(1)).toMatchObject({ stopper: false });
  });

  test('a dummy over the sheave at 3 knots is bruised and lost', async () => {
    await laying();
    await panel.until(({ toNext }) => toNext < 6, 200);
    // All pairs open for a moment would let go: these are opened and shut in time, but nobody slows down.
    for (const pair of PAIRS) {
      await panel.until(({ inEngine }, n) => inEngine > 2 * n - 2.4, 20, { stride: 0.05, given: pair });
      await panel.keyboard.press(`Pair ${pair}`);
      if (pair > 2) await panel.keyboard.press(`Pair ${pair - 2}`);
    }
    const over = await panel.until(({ alarms }) => alarms.includes('SHEAVE BLOW'), 20);
    expect(over).toMatchObject({ lost: 1, sound: 0 });
  });
});

describe('the panel', () => {
  test('stays finite for ten hours, in one tick or in many', async () => {
    await laying();
    const worked = await panel.pass(36_000);
    expect(JSON.stringify(worked)).not.toMatch(/null/);
    const [once, many] = await panel.tenHours('Weed on log');
    expect(many).toBe(once);
  });

  test.each([390, 768, 1440, 1920])('has nothing for axe-core and no sideways overflow at %i px', async (width) => {
    await open({ viewport: { width, height: width === 390 ? 844 : 900 } });
    expect(await panel.overflow()).toBeLessThanOrEqual(0);
    // Films lit and locks turned, so that their colours are judged too.
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
  /** Contrast of the mat's lettering with its rubber: axe-core does not judge letters on a gradient. */
  const readable = (): Promise<number> =>
    panel.page.evaluate(`(() => {
      const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
      const letters = light(getComputedStyle(document.querySelector('.moulded')).color);
      return (letters + 0.05) / (light('35 39 43') + 0.05);
    })()`);

  test('pass the first version: that its mat cannot be read is for the eye to find', async () => {
    expect(await judge(SLUG, 'first')).toEqual([]);
    await withVersion(SLUG, 'first', async (site) => {
      await open({}, join(site, 'machines', SLUG));
      expect(await readable()).toBeLessThan(1.5);
    });
  }, 120_000);

  test('pass the finished machine, whose mat reads, and which is of the size that is asked for', async () => {
    expect(await judge(SLUG, 'final')).toEqual([]);
    await open();
    expect(await readable()).toBeGreaterThan(10);
    const { files } = await pieceOf(SLUG);
    const bytes = MACHINE_FILES.reduce((sum, file) => sum + Buffer.byteLength(files[file]), 0);
    expect(bytes).toBeGreaterThan(60_000);
    expect(bytes).toBeLessThan(150_000);
  }, 120_000);
});
