import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Line } from '../../src/line/line.ts';
import { factoryId } from '../../src/shift/factory-id.ts';
import { openLine } from '../../src/shift/open-line.ts';
import { catalogueOf, git, machineFiles, writeAll } from '../helpers/origin.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';
import { type TestRoom, openRoom } from './room.ts';

const SHIFT = '20260504-120000';
const HOSTILE = '<script>window.hurt=1</script>';
let room: TestRoom;
let line: Line;
let base: string;
let work: string;
beforeEach(async () => {
  room = await openRoom();
  const { config } = room;
  git(config.root, 'init', '-q', '-b', 'main');
  git(config.root, 'add', 'site', 'factory.yaml');
  git(config.root, 'commit', '-q', '-m', 'Begin');
  line = await openLine({ config, factory: await factoryId(config.data) });
  base = await line.fetch();
  await line.newBranch(SHIFT, base);
  writeAll(join(config.data, 'checkout'), {
    ...machineFiles('second'),
    'site/machines.json': catalogueOf('second'),
    'site/machines/second/machine.js': `${HOSTILE}\n`,
    'notes/<img src=x onerror="window.hurt=1">.txt': Buffer.from([0, 1]),
  });
  work = (await line.snapshot({ shift: SHIFT, continued: 0 })).commit;
});
afterEach(() => room.close());

const red = () => recordOf(SHIFT, { verdict: 'red', reason: 'it is too wide', base, machine: null });
const failedStation = (code: string) => ({
  ...{ name: 'work', attempt: 1, status: 'failed' as const, startedAt: '2026-05-04T12:00:00Z', durationMs: 5 },
  ...{ summary: 'it failed', error: { code, message: 'it failed', mend: 'Nothing: the next shift continues it.' } },
});
const addressOf = (text: string, name: string) =>
  new RegExp(`href="([^"]+)"><code>[^<]*${name}`).exec(text)?.[1] as string;

it('lists what a red shift would have landed, each file to be read as text, and what would have stayed out', async () => {
  keepRecord(room.config.data, red());
  const { text } = await room.ask(`/shifts/${SHIFT}`);
  expect(text).toContain('The change that would have landed');
  expect(text.match(/stays out of the landing/g)).toHaveLength(1);
  expect(text).not.toContain('<img src=x');
  const script = await room.ask(addressOf(text, 'machine.js'));
  expect(script.text).toContain('&lt;script&gt;');
  expect(script.text).not.toContain(HOSTILE);
  expect((await room.ask(addressOf(text, 'notes/'))).text).toContain('No text: 2 B');
  // What is in main already is told as a difference.
  expect((await room.ask(addressOf(text, 'machines.json'))).text).toMatch(/data-line="came">\+ .*second/);
  const told = (await room.ask(`/api/shifts/${SHIFT}/change`)).json();
  expect(told.change.files).toContainEqual({
    ...{ path: 'site/machines/second/index.html', how: 'added', mode: '100644', before: null },
    ...{ id: expect.any(String), size: 21, lines: { added: 1, removed: 0 } },
  });
});

it('opens no object that is not in the shift’s own change', async () => {
  keepRecord(room.config.data, red());
  const other = git(room.config.root, 'rev-parse', 'HEAD:factory.yaml');
  expect((await line.object(other))?.length).toBeGreaterThan(0);
  for (const object of [other, base, '..%2f..%2fconfig', 'HEAD', '--help'])
    expect((await room.ask(`/shifts/${SHIFT}/change/${object}`)).status).toBe(404);
});

it('lists what a green shift landed, with the way to see it run', async () => {
  const landing = { subject: 'shift: Second', body: '', shift: SHIFT, session: null };
  const { commit } = await line.buildLanding(base, work, landing);
  await line.publish(commit, base);
  keepRecord(room.config.data, recordOf(SHIFT, { base, commit, machine: 'second' }));
  const { text } = await room.ask(`/shifts/${SHIFT}`);
  expect(text).toContain('The change it landed');
  expect(text).toContain('<a href="/shelf/machines/second/">See it run on the shelf</a>');
  expect(text).not.toContain('notes/');
  expect((await room.ask('/shelf/machines/second/')).text).toContain('index.html of second');
});

it('shows the change so far of a shift at work, and says when nothing of it is here', async () => {
  keepRecord(room.config.data, { ...red(), verdict: null, endedAt: null });
  expect((await room.ask(`/shifts/${SHIFT}`)).text).toContain('The change so far');
  const gone = '20260504-130000';
  keepRecord(room.config.data, { ...red(), id: gone, branch: `shift/${gone}` });
  expect((await room.ask(`/shifts/${gone}`)).text).toContain('Nothing of it is here');
});

it('leads from a red shift to the one that went on with its branch, and says what became of that', async () => {
  const [first, second, third] = ['20260504-130000', '20260504-133000', '20260504-140000'];
  const branch = `shift/${first}`;
  keepRecord(room.config.data, { ...red(), id: first, branch, stations: [failedStation('agent/time')] });
  keepRecord(room.config.data, { ...red(), id: second, branch });
  let { text } = await room.ask(`/shifts/${first}`);
  expect(text).toContain(`What to do:</b> <a href="/shifts/${second}">Shift ${second}</a> went on with its work: red.`);
  keepRecord(room.config.data, recordOf(third, { branch, machine: 'second', commit: base }));
  ({ text } = await room.ask(`/shifts/${first}`));
  expect(text).toContain(`<a href="/shifts/${third}">Shift ${third}</a> went on with its work: second landed.`);
  expect(text).toContain(`Its work is with <a href="/shifts/${third}#change">shift ${third}</a>, and landed there.`);
});

it('promises no next shift for a branch in quarantine', async () => {
  for (const code of ['agent/time', 'gate/check']) {
    const stations = [failedStation(code)];
    keepRecord(room.config.data, { ...red(), stations, quarantined: [`shift/${SHIFT}`] });
    const { text } = await room.ask(`/shifts/${SHIFT}`);
    expect(text).toMatch(/What to do:.*no shift goes on with it: read why it did not land/);
    expect(text).not.toMatch(/What to do:.*the next shift continues/i);
  }
});
