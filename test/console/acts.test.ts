import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ship } from '../../src/dataset/ship.ts';
import { DatasetStore } from '../../src/dataset/store.ts';
import { openLine } from '../../src/shift/open-line.ts';
import { factoryId } from '../../src/shift/factory-id.ts';
import type { workShift } from '../../src/shift/shift.ts';
import { HubServer, TOKEN as HUB_TOKEN } from '../dataset/hub-server.ts';
import { block } from '../dataset/rows.ts';
import { git, machineFiles, writeAll } from '../helpers/origin.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';
import { bot, result, user, writeLog as writeSession } from '../session/logs.ts';
import { type TestRoom, openRoom } from './room.ts';

const SHIFT = '20260504-120000';
let room: TestRoom;
beforeEach(async () => {
  const ended = recordOf(SHIFT);
  room = await openRoom({}, { work: async () => ended });
});
afterEach(() => room.close());

/** Makes the folder a repository, and puts a branch of this factory in quarantine. */
async function setOneAside(): Promise<void> {
  const { config } = room;
  git(config.root, 'init', '-q', '-b', 'main');
  git(config.root, 'add', 'site', 'factory.yaml');
  git(config.root, 'commit', '-q', '-m', 'Begin');
  const line = await openLine({ config, factory: await factoryId(config.data) });
  await line.newBranch(SHIFT, await line.fetch());
  writeAll(join(config.data, 'checkout'), machineFiles('second'));
  await line.snapshot({ shift: SHIFT, continued: 3 });
  await line.push();
  await line.quarantine(`shift/${SHIFT}`);
}

it('starts a shift in the name of whoever asked', async () => {
  const answer = await room.act('/api/shifts');
  expect([answer.status, answer.json()]).toEqual([202, { outcome: 'started' }]);
  expect(room.factory.asked).toEqual(['bearer token (127.0.0.1)']);
});

it('says that there is nothing to stop, and what else cannot be done now', async () => {
  expect((await room.act('/api/shifts/current/stop')).json().error).toMatchObject({
    code: 'conflict',
    message: 'no shift is at work',
  });
  expect((await room.act('/api/outbox/retry')).json().error.message).toBe('no hub is configured');
  expect((await room.act('/api/alarms/shift-red/acknowledge')).status).toBe(409);
  expect((await room.act('/api/alarms/no-such/acknowledge')).status).toBe(404);
  expect((await room.act(`/api/set-aside/${SHIFT}/release`)).status).toBe(404);
  expect((await room.act('/api/set-aside/..%2fmain/drop')).status).toBe(404);
  room.factory.pretend({ state: 'stopping' });
  expect((await room.act('/api/shifts')).status).toBe(409);
});

it('raises an alarm for a branch that is set aside, gives it back, and says so', async () => {
  await setOneAside();
  expect((await room.ask('/api/set-aside')).json().branches).toMatchObject([
    { branch: `quarantine/${SHIFT}`, shift: SHIFT },
  ]);
  const alarm = async () =>
    (await room.ask('/api/alarms')).json().alarms.find(({ name }: { name: string }) => name === 'branch-set-aside');
  expect(await alarm()).toMatchObject({ state: 'new', causes: [{ key: `quarantine/${SHIFT}` }] });
  expect((await room.ask('/')).text).toContain(`release-${SHIFT}`);
  expect((await room.act(`/api/set-aside/${SHIFT}/release`)).json()).toEqual({ released: `quarantine/${SHIFT}` });
  expect(git(room.config.root, 'branch', '--list', 'shift/*').trim()).toBe(`shift/${SHIFT}`);
  expect(await alarm()).toMatchObject({ state: 'gone' });
  expect((await room.ask('/api/acts')).json().acts[0]).toMatchObject({
    act: 'release a branch',
    what: `quarantine/${SHIFT}`,
  });
});

it('drops a branch that is set aside', async () => {
  await setOneAside();
  expect((await room.act(`/api/set-aside/${SHIFT}/drop`)).status).toBe(200);
  expect(git(room.config.root, 'branch', '--list', 'quarantine/*', 'shift/*')).toBe('');
});

it('keeps a hub that cannot be reached for the operator, and the row in the outbox', async () => {
  const own = await openRoom({ 'dataset.hub.repo': 'a/b', 'dataset.hub.endpoint': 'http://127.0.0.1:9' });
  try {
    const answer = await own.act('/api/outbox/retry');
    expect(answer.json()).toMatchObject({ shipped: [], waiting: [] });
  } finally {
    await own.close();
  }
});

it('sends a row once when the outbox is retried just as a shift ships it', async () => {
  const hub = await HubServer.start();
  const id = '20260504-120001';
  // A shift that does nothing but what its ship station does.
  const work: typeof workShift = async ({ config }) => {
    const { shipped } = await ship({
      data: config.data,
      repo: 'a/b',
      endpoint: hub.endpoint,
      token: HUB_TOKEN,
      secrets: [],
    });
    return recordOf(SHIFT, { reason: `shipped ${shipped.length}` });
  };
  const flags = { 'dataset.hub.repo': 'a/b', 'dataset.hub.endpoint': hub.endpoint };
  const own = await openRoom(flags, { work, env: { HF_TOKEN: HUB_TOKEN } });
  try {
    const { data } = own.config;
    await writeSession(join(data, 'sessions'), id, [user('Begin'), bot('done'), result()]);
    await new DatasetStore(join(data, 'dataset')).put(join(data, 'sessions'), id, block);
    const retried = own.act('/api/outbox/retry');
    await expect.poll(() => hub.requests.length, { interval: 1 }).toBeGreaterThan(0);
    const { reason } = await own.factory.request('test').done;
    const answer = (await retried).json();
    expect([answer.shipped, answer.trouble, reason]).toEqual([[id], undefined, 'shipped 0']);
    expect(hub.commits.map(({ title }) => title)).toEqual([`Add row ${id}`]);
    // While a shift is at work it ships them itself.
    own.factory.pretend({ current: { by: 'test', since: '', record: null, activity: null } });
    expect((await own.act('/api/outbox/retry')).status).toBe(409);
  } finally {
    await own.close();
    await hub.stop();
  }
});

it('lists and filters shifts as its page does', async () => {
  const { data } = room.config;
  for (let n = 10; n < 70; n += 1)
    keepRecord(data, recordOf(`20260504-1200${n}`, n % 2 ? {} : { verdict: 'red', reason: 'it is too wide' }));
  const all = (await room.ask('/api/shifts')).json();
  expect([all.total, all.shifts.length, all.shifts[0].id]).toEqual([60, 50, '20260504-120069']);
  expect((await room.ask('/api/shifts?verdict=red&text=WIDE&page=1')).json().total).toBe(30);
  expect((await room.ask('/api/shifts?since=2026-05-05')).json().total).toBe(0);
  expect((await room.ask('/shifts?verdict=red')).text).toContain('30 shifts of 60');
  expect((await room.ask('/api/shifts/20260504-120010')).json().verdict).toBe('red');
  expect((await room.ask('/api/shifts/20260504-999999')).status).toBe(404);
});
