import { readFileSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type Page, chromium } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { STATIONS } from '../../src/shift/shift.ts';
import { LEGENDS } from '../../src/console/parts/windows.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';
import { bot, call, reasoning, user, writeLog as writeSession } from '../session/logs.ts';
import { TOKEN, type TestRoom, openRoom, writeLog } from './room.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RED = '20260504-130000';
const GREEN = '20260504-120000';
const RUNNING = '20260504-133000';
const ROW = '20260504-120001';
const HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>';
const IMAGE = 'a'.repeat(64);

let browser: Browser;
let room: TestRoom;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
});
afterAll(() => browser.close());

/** What a row holds of one look, its answer and a change; the text is hostile. */
const messages = [
  { role: 'user', type: 'user', content: `Begin. ${HOSTILE}` },
  {
    role: 'assistant',
    type: 'bot',
    content: HOSTILE,
    reasoning: HOSTILE,
    tool_calls: [
      {
        id: 'c1',
        type: 'function',
        function: { name: 'view', arguments: '{"path":"/tmp/machinery/kestrel-desktop.png"}' },
      },
    ],
  },
  { role: 'tool', type: 'activity', tool_call_id: 'c1', name: 'view', content: HOSTILE },
  {
    role: 'user',
    type: 'attachment',
    content: [
      { type: 'text', text: 'kestrel-desktop.png' },
      { type: 'image', image: `images/${IMAGE}.png` },
    ],
  },
  {
    role: 'assistant',
    type: 'bot',
    content: 'The legend is too faint.',
    tool_calls: [
      {
        id: 'c2',
        type: 'function',
        function: { name: 'write', arguments: '{"path":"site/machines/kestrel/machine.css","content":"x"}' },
      },
    ],
  },
  { role: 'tool', type: 'activity', tool_call_id: 'c2', name: 'write', content: 'wrote' },
];

/** A folder with a red and a green shift, a row, and hostile text wherever an agent or a page can put some. */
async function fill({ config }: TestRoom): Promise<void> {
  const { data } = config;
  const stations = [
    {
      name: 'work',
      attempt: 1,
      status: 'ok' as const,
      startedAt: '2026-05-04T13:00:00.000Z',
      durationMs: 9000,
      summary: HOSTILE,
    },
    {
      ...{
        name: 'probe',
        attempt: 1,
        status: 'failed' as const,
        startedAt: '2026-05-04T13:00:09.000Z',
        durationMs: 800,
      },
      summary: '1 error',
      error: { code: 'gate/probe-failed', message: `probe found 1 error ${HOSTILE}`, mend: 'Read them all.' },
    },
  ];
  const probe = {
    ...{ gate: 'probe', ok: false, machines: ['kestrel'], durationMs: 800 },
    findings: [
      {
        rule: 'layout/phone',
        severity: 'error',
        machine: 'kestrel',
        message: `the panel is 412 px wide at 390 ${HOSTILE}`,
      },
    ],
  };
  keepRecord(data, recordOf(GREEN, { session: ROW, chain: [ROW], commit: 'c'.repeat(40) }));
  keepRecord(
    data,
    recordOf(RED, {
      verdict: 'red',
      reason: `probe: it overflows ${HOSTILE}`,
      startedAt: '2026-05-04T13:00:00.000Z',
      endedAt: '2026-05-04T13:02:00.000Z',
      findings: { 'layout/phone': 1 },
      stations,
    }),
    { 'probe.json': JSON.stringify(probe) },
  );
  writeLog(data, RED, [
    { level: 30, time: '2026-05-04T13:00:01.000Z', station: 'work', msg: HOSTILE },
    { level: 20, time: '2026-05-04T13:00:02.000Z', activity: 'say', msg: HOSTILE },
  ]);
  const picture = await sharp({ create: { width: 390, height: 844, channels: 3, background: '#446' } })
    .png()
    .toBuffer();
  await writeFile(join(data, 'shifts', RED, 'kestrel-phone.png'), picture);
  const row = {
    ...{
      id: ROW,
      chain: [ROW],
      task: HOSTILE,
      model: 'm',
      provider: 'p',
      driver: 'custom',
      started: '2026-05-04T12:00:01Z',
      ended: '2026-05-04T12:20:00Z',
    },
    ...{ outcome: { reason: 'settled' }, complete: true, messages, images: [`images/${IMAGE}.png`] },
    machinery: {
      repository: 'r',
      run: GREEN,
      commit: 'c'.repeat(40),
      outcome: 'settled',
      catalogue_check: 'success',
      probe: 'success',
      committed: true,
      machine: { slug: 'kestrel', name: HOSTILE },
      files: {},
    },
  };
  keepRecord(data, recordOf(RUNNING, { verdict: null, endedAt: null, startedAt: '2026-05-04T13:30:00.000Z' }));
  await writeSession(join(data, 'sessions', `open-${RUNNING}`), '20260504-133003', [
    user(HOSTILE),
    reasoning(HOSTILE),
    bot(HOSTILE),
    ...call('c1', 'shell', { command: HOSTILE }, HOSTILE),
  ]);
  const folder = join(data, 'dataset', 'trajectories', ROW);
  await mkdir(join(folder, 'images'), { recursive: true });
  await writeFile(join(folder, `${ROW}.jsonl`), `${JSON.stringify(row)}\n`);
  await writeFile(join(folder, 'images', `${IMAGE}.png`), picture);
}

const PAGES = [
  '/',
  '/shifts',
  `/shifts/${RED}`,
  `/shifts/${RED}/log?text=img`,
  `/shifts/${GREEN}`,
  `/shifts/${RUNNING}`,
  `/shifts/${RUNNING}/conversation`,
  '/rows',
  `/rows/${ROW}`,
  `/rows/${ROW}/critiques`,
  '/doctor',
  '/sign-in',
  '/nowhere',
];

beforeEach(async () => {
  room = await openRoom(
    {},
    { examine: async () => [{ name: 'git', state: 'broken', told: HOSTILE, mend: 'Install git.' }] },
  );
  await fill(room);
});
afterEach(() => room.close());

interface AxeWindow {
  axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
}

async function axe(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => (globalThis as unknown as AxeWindow).axe.run());
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

async function open(path: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  await page.goto(room.url + path);
  return page;
}

describe('every page', () => {
  it.each([
    ['by day', { colorScheme: 'light' as const, viewport: { width: 1440, height: 900 } }],
    [
      'by night, on a phone, without motion',
      { colorScheme: 'dark' as const, reducedMotion: 'reduce' as const, viewport: { width: 390, height: 844 } },
    ],
  ])(
    'has nothing that axe minds, runs nothing hostile and stays within its width, %s',
    async (_, options) => {
      const context = await browser.newContext(options);
      const troubles: string[] = [];
      for (const path of PAGES) {
        const page = await context.newPage();
        page.on('pageerror', (error) => troubles.push(`${path}: ${error.message}`));
        page.on('console', (said) => {
          if (said.type() === 'error' && !(path === '/nowhere' && said.text().includes('404')))
            troubles.push(`${path}: ${said.text()}`);
        });
        await page.goto(room.url + path);
        for (const told of await axe(page)) troubles.push(`${path}: ${told}`);
        const seen = await page.evaluate<{ hurt: boolean; wide: number }>(
          `({ hurt: 'hurt' in globalThis, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth })`,
        );
        if (seen.hurt) troubles.push(`${path}: hostile text ran`);
        if (seen.wide > 0) troubles.push(`${path}: ${seen.wide} px too wide`);
        await page.close();
      }
      await context.close();
      expect(troubles).toEqual([]);
    },
    240_000,
  );

  it('has a window for each station of a shift, in their order', () => {
    expect(Object.keys(LEGENDS)).toEqual(STATIONS.map(({ name }) => name));
  });
});

describe('the line', () => {
  it('leads from a red shift to the finding beside its screenshot in one click', async () => {
    const page = await open('/');
    expect(await page.locator('.window.alarm', { hasText: 'Shift red' }).getAttribute('data-state')).toBe('new');
    await page.getByRole('link', { name: 'open the red shift' }).click();
    const finding = page.locator('.finding', { hasText: 'layout/phone' });
    await finding.waitFor();
    expect(await finding.textContent()).toContain('412 px wide');
    const image = finding.locator('img');
    await expect
      .poll(() => image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(390);
    expect(await page.locator('.state .now').textContent()).toContain('red: probe: it overflows');
    await page.close();
  });

  it('acknowledges an alarm with the keyboard alone, after asking for the token once', async () => {
    const page = await open('/');
    await page.locator('#ack-shift-red').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'not the console token' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement?.id')).toBe('ack-shift-red');
    await page.keyboard.press('Enter');
    await page.locator('#guard-token').fill('');
    await page.keyboard.type(TOKEN);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.window.alarm[data-state=acknowledged]').waitFor();
    // Signed in now: the next act asks once more, and for nothing else.
    await page.locator('#press-schedule').focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#guard-token').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.locator('#press-schedule', { hasText: 'Resume' }).waitFor();
    expect(await page.evaluate('document.activeElement?.id')).toBe('press-schedule');
    expect(room.factory.status().paused?.by).toContain('127.0.0.1');
    await page.close();
  });

  it('can be left as it is under the guard', async () => {
    const page = await open('/');
    await page.locator('#press-schedule').click();
    await page.locator('#guard-leave').click();
    expect(await page.locator('#guard').isVisible()).toBe(false);
    expect(room.factory.status().paused).toBeNull();
    await page.close();
  });

  it('keeps the room that a visitor chose', async () => {
    const page = await open('/', { colorScheme: 'light' });
    await page.locator('#light').selectOption('night');
    await page.goto(`${room.url}/shifts`);
    expect(await page.locator('html').getAttribute('data-room')).toBe('night');
    await page.close();
  });
});

describe('the conversation of a shift at work', () => {
  it('grows as the agent goes on, and keeps what was unfolded', async () => {
    const { data } = room.config;
    const record = recordOf(RUNNING, { verdict: null, endedAt: null });
    room.factory.pretend({ current: { by: 'test', since: record.startedAt, record, activity: null } });
    writeLog(data, RUNNING, []);
    const page = await open(`/shifts/${RUNNING}/conversation`);
    await page.locator('.turn details').first().locator('summary').click();
    const log = join(data, 'sessions', `open-${RUNNING}`, '20260504-133003.jsonl');
    const line = { kind: 'message', at: '2026-05-04T13:31:00Z', message: { type: 'bot', text: 'One word more.' } };
    await appendFile(log, `${JSON.stringify(line)}\n`);
    writeLog(data, RUNNING, [{ level: 20, time: '2026-05-04T13:31:00.000Z', activity: 'say', msg: 'One word more.' }]);
    await page.locator('.turn').first().filter({ hasText: 'One word more.' }).waitFor();
    expect(await page.locator('.turn details[open]').count()).toBe(1);
    expect(await page.evaluate('"hurt" in globalThis')).toBe(false);
    await page.close();
  });
});

describe('a machine on the shelf', () => {
  it('cannot reach the API, has no cookie of ours, and sees no page of ours', async () => {
    const tries = `
      const tell = (name, what) => document.body.setAttribute('data-' + name, what);
      fetch('/api/status').then((r) => tell('api', 'read ' + r.status), () => tell('api', 'refused'));
      fetch('/api/schedule/pause', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
        .then((r) => tell('act', 'sent ' + r.status), () => tell('act', 'refused'));
      fetch('/').then(() => tell('page', 'read'), () => tell('page', 'refused'));
      try { tell('cookie', document.cookie || 'none'); } catch { tell('cookie', 'refused'); }`;
    const own = await openRoom(
      {},
      { files: { 'site/machines/spy/index.html': `<!doctype html><title>Spy</title><body><script>${tries}</script>` } },
    );
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${own.url}/sign-in?next=/shifts`);
    await page.locator('#sign-in-token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.waitForURL(({ pathname }) => pathname === '/shifts');
    await page.goto(`${own.url}/shelf/machines/spy/`);
    await page.locator('body[data-api][data-act][data-page][data-cookie]').waitFor({ state: 'attached' });
    const seen = await page.evaluate('({ ...document.body.dataset })');
    expect(seen).toEqual({ api: 'refused', act: 'refused', page: 'refused', cookie: 'refused' });
    expect(own.factory.status().paused).toBeNull();
    await context.close();
    await own.close();
  });
});
