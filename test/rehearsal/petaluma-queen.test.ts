import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MACHINE_FILES } from '../../src/catalogue/entry.ts';
import { check } from '../../src/gates/check/check.ts';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { probe } from '../../src/gates/probe/probe.ts';
import { pieces, stages } from '../../src/rehearsal/repertoire.ts';
import { entryOf } from '../../src/rehearsal/script/entry.ts';
import { type Hand, openBrowser, Panel, type State } from './panel.ts';

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
  await panel.page.close();
});

const POSITIONS = {
  'Wafer screw': 'waferScrew',
  'Drip valve': 'dripValve',
  Damper: 'damper',
  'Turning lever': 'turningLever',
};

const open = async (width = 1440, height = 900, touch = false) => {
  panel = await Panel.open(browser, SLUG, { positions: POSITIONS, width, height, touch });
};

/** What the shared hands cannot do: a knife switch made of radio buttons, a slide, and a screw with quarter-degree clicks. */
interface Fingers extends Hand {
  line(place: string): Promise<void>;
}

const mouse = (): Fingers => ({
  ...panel.mouse,
  set: (name, value) =>
    name === 'Damper' || name === 'Wafer screw' ? nudge(name, value) : panel.mouse.set(name, value),
  line: (place) => panel.page.getByRole('radio', { name: place }).click(),
});

const keyboard = (): Fingers => ({
  ...panel.keyboard,
  line: async (place) => {
    const wanted = panel.page.getByRole('radio', { name: place });
    for (let n = 0; n < 60; n += 1) {
      if (await panel.page.evaluate(`document.activeElement.name === 'line'`)) break;
      await panel.page.keyboard.press('Tab');
    }
    for (let n = 0; n < 3 && !(await wanted.isChecked()); n += 1) await panel.page.keyboard.press('ArrowDown');
    expect(await wanted.isChecked()).toBe(true);
  },
});

/** Drags in small moves, upward for a slide and round the middle for a screw, until it stands where it should. */
async function nudge(name: string, value: number): Promise<void> {
  const { page } = panel;
  const box = await panel.control(name).boundingBox();
  if (!box) throw new Error(`${name} has no box`);
  const now = async () => Number((await panel.state())[POSITIONS[name as keyof typeof POSITIONS]]);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const place = async (step: number) => {
    const angle = step / 12;
    if (name === 'Damper') await page.mouse.move(x, y - step * 2);
    else await page.mouse.move(x + 40 * Math.sin(angle), y - 40 * Math.cos(angle));
  };
  let step = 0;
  await place(step);
  await page.mouse.down();
  for (let n = 0; n < 90 && (await now()) !== value; n += 1) {
    step += (await now()) < value ? 1 : -1;
    await place(step);
  }
  await page.mouse.up();
  expect(await now()).toBe(value);
}

/** Steps 1 to 6 of Normal operation. */
async function fillCabinet(hand: Fingers): Promise<void> {
  await hand.press('Main switch');
  await hand.press('Fan');
  await hand.set('Wafer screw', 99.75);
  await hand.set('Damper', 2);
  await hand.set('Drip valve', 4);
  await panel.until(
    'a warm, damp cabinet',
    ({ dryBulb, wetBulb }) => dryBulb > 99 && wetBulb > 84 && wetBulb < 88,
    120,
  );
  await truck(hand);
  await hand.press('Turner clock');
}

async function truck(hand: Fingers): Promise<void> {
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
    const running = await panel.tick(60);
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
    await panel.until('level trays', ({ tilt }) => Math.abs(tilt) < 1, 20);
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
    await panel.tick(60);
    const trouble = async (tag: string, strip: string) => {
      await hand.press(tag);
      const seen = await panel.until(strip, ({ alarms }) => alarms.length > 0, 60);
      expect(seen.alarms).toContain(strip);
      // Silence stops the bell and cures nothing.
      await hand.press('Silence');
      expect(await panel.tick(0.5)).toMatchObject({ ringing: false, alarms: expect.arrayContaining([strip]) });
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
    await panel.until('a standing fan', ({ fanRpm }) => fanRpm < 20, 20);
    await hand.press('Belt tensioner');
    await hand.press('Belt tensioner');
    await hand.press('Fan');
    expect(await cleared('BELT OFF')).toBe(false);
    await settled(hand);

    await trouble('Line down', 'LINE DEAD');
    await hand.line('Plant');
    for (let pull = 0; pull < 3; pull += 1) await hand.press('Starter cord');
    await panel.tick(6);
    expect(await cleared('LINE DEAD')).toBe(false);
    await panel.until('the company line', ({ mains }) => mains, 200);
    await hand.line('Line');
    await settled(hand);
    expect((await panel.state()).fertile).toBeGreaterThan(60);
  });
});

const untilDay = (day: number): Promise<State> =>
  panel.page.evaluate(
    `(() => { const m = window.machine; for (let n = 0; n < 2000 && m.state().day < ${day}; n += 1) m.tick(0.5); return m.state(); })()`,
  );

/** As the book says: door open until the heat is out, the red button, door shut. */
async function resetLimit(hand: Fingers): Promise<void> {
  if (!(await panel.state()).limitOpen) return;
  await hand.press('Door latch');
  await panel.until('a cool top', ({ topBulb }) => topBulb < 100, 60);
  await hand.press('Limit reset');
  await hand.press('Door latch');
}

async function settled(hand: Fingers): Promise<void> {
  await panel.tick(3);
  await resetLimit(hand);
  await panel.until('a quiet call board', ({ alarms }) => alarms.length === 0, 120);
}

describe('ignoring an alarm', () => {
  const running = async () => {
    await open();
    await fillCabinet(keyboard());
    await panel.tick(120);
  };

  test('a welded relay cooks eggs until the limit opens, and then they chill', async () => {
    await running();
    await panel.mouse.press('Relay welded');
    await panel.until('the limit', ({ alarms }) => alarms.includes('LIMIT OPEN'), 120);
    const late = await panel.tick(240);
    expect(late.alarms).toEqual(expect.arrayContaining(['LIMIT OPEN', 'CHILLED']));
    expect(late.fertile).toBeLessThan(65);
  });

  test('a sheared pin leaves eggs on one side, and germs stick', async () => {
    await running();
    await panel.mouse.press('Turner jam');
    const late = await panel.tick(200);
    expect(late.alarms).toEqual(expect.arrayContaining(['PIN SHEARED', 'NOT TURNED']));
    expect(late.fertile).toBeLessThan(60);
  });

  test('a dead line lets all of them go cold', async () => {
    await running();
    await panel.mouse.press('Line down');
    const late = await panel.tick(145);
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
    await panel.page.getByRole('radio', { name: 'Off' }).tap();
    // A tap becomes a click a moment after it is over.
    await expect.poll(async () => (await panel.state()).lineSwitch).toBe('OFF');
    await panel.touch.set('Drip valve', 10);
    expect(await panel.tick(3)).toMatchObject({ dripValve: 10, lineSwitch: 'OFF', alarms: ['LINE DEAD'] });
  });

  test('stays finite for ten hours, in one tick or in many', async () => {
    await open();
    const ten = (how: string) =>
      panel.page.evaluate(
        `(() => { const m = window.machine; m.reset(); m.inject('Belt off'); ${how}; return JSON.stringify(m.state()); })()`,
      );
    const once = await ten('m.tick(36000)');
    expect(await ten('for (let n = 0; n < 3600; n += 1) m.tick(10)')).toBe(once);
    expect(once).not.toMatch(/null/);
  });

  test.each([390, 768, 1440, 1920])('has nothing for axe-core and no sideways overflow at %i px', async (width) => {
    await open(width, width === 390 ? 844 : 900);
    expect(await panel.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(
      0,
    );
    // Strips lit and tags pulled, so that their colours are judged too.
    await panel.page.evaluate('for (const fault of window.machine.faults) window.machine.inject(fault);');
    await panel.tick(20);
    await panel.drawn();
    expect(await violations()).toEqual([]);
  });

  test('has a manual with nothing for axe-core', async () => {
    await open();
    await panel.page.goto(panel.page.url().replace('index.html', 'manual.html'));
    expect(await violations()).toEqual([]);
  });
});

describe('the gates', () => {
  const judge = async (version: 'first' | 'final') => {
    const piece = (await pieces()).find(({ entry }) => entry.slug === SLUG);
    if (!piece) throw new Error(`${SLUG} is not in the repertoire`);
    const site = await mkdtemp(join(tmpdir(), 'rehearsal-gates-'));
    try {
      const folder = join(site, 'machines', SLUG);
      await mkdir(folder, { recursive: true });
      await writeFile(join(site, 'machines.json'), `${JSON.stringify([entryOf(piece, '2025-01-01')], null, 2)}\n`);
      for (const file of MACHINE_FILES) {
        const text = version === 'first' ? stages(piece, file)[0] : piece.files[file];
        await writeFile(join(folder, file), text ?? '');
      }
      const checked = await check({ site, cache: null });
      const probed = await probe({ site, out: join(site, 'out'), chromium: await findChromium(), cache: null });
      return [...checked.findings, ...probed.findings].map(({ rule }) => rule);
    } finally {
      await rm(site, { recursive: true, force: true });
    }
  };

  test('find nothing in the finished machine', async () => {
    expect(await judge('final')).toEqual([]);
  }, 120_000);

  test('find the fault that rings nothing, and only that, in the first version', async () => {
    expect(await judge('first')).toEqual(['alarm/fault', 'fault/panel']);
  }, 120_000);
});

async function violations(): Promise<string[]> {
  await panel.page.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
  return panel.page.evaluate(
    `(async () => (await axe.run({ preload: false })).violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary)))()`,
  );
}
