import { existsSync, mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/load.ts';
import { Outbox } from '../../src/dataset/outbox.ts';
import { DatasetStore } from '../../src/dataset/store.ts';
import { tidy } from '../../src/factory/housekeeping.ts';
import { openLine } from '../../src/shift/open-line.ts';
import { type TestFactory, makeFactory } from '../helpers/factory.ts';
import { machineFiles, writeAll } from '../helpers/origin.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';
import { bot, result, user, writeLog } from '../session/logs.ts';

const NOW = new Date('2026-05-31T12:00:00Z');
const OLD = '20260101-000000';
const FORTNIGHT_AGO = '20260510-000000';
const RECENT = '20260530-000000';
const FILES = { 'a-desktop.png': 'picture', 'log.ndjson': '{}', 'probe.json': '{}' };
const log = { info: () => {}, warn: () => {} } as unknown as Parameters<typeof tidy>[1];

describe('housekeeping', () => {
  let factory: TestFactory;
  let config: Config;
  beforeEach(async () => {
    factory = await makeFactory();
    config = await factory.config();
  });
  afterEach(() => factory.remove());

  const shift = (id: string) => join(config.data, 'shifts', id);
  const chain = (id: string) => join(config.data, 'sessions', id);
  const keep = (id: string, differs: Parameters<typeof recordOf>[1] = {}) =>
    keepRecord(config.data, recordOf(id, differs), FILES);

  /** A chain of one session, as old as its id, with its row in the store or not. */
  async function session(id: string, row = true): Promise<void> {
    await writeLog(chain(id), id, [user('Begin'), bot('Done'), result()]);
    const at = new Date(`${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6, 8)}T00:00:00Z`);
    utimesSync(join(chain(id), `${id}.jsonl`), at, at);
    if (row) await new DatasetStore(join(config.data, 'dataset')).put(chain(id), id);
  }

  /** Work of a shift that did not land, on its branch. */
  async function strand(id: string, on: string): Promise<void> {
    const line = await openLine({ config, factory: '0123456789ab' });
    await line.newBranch(id, await line.fetch());
    writeAll(join(config.data, 'checkout'), machineFiles('tide-gate'));
    await line.snapshot({ shift: id, session: on });
    await line.push();
  }

  it('clears shift folders past their time, of younger ones the pictures only, and leaves the rest', async () => {
    for (const id of [OLD, FORTNIGHT_AGO, RECENT]) keep(id);
    expect(await tidy(config, log, NOW)).toMatchObject({ shifts: 1, screenshots: 1 });
    expect(existsSync(shift(OLD))).toBe(false);
    expect(readdirSync(shift(FORTNIGHT_AGO)).sort()).toEqual(['log.ndjson', 'probe.json', 'shift.json']);
    expect(readdirSync(shift(RECENT))).toContain('a-desktop.png');
    expect(await tidy(config, log, NOW)).toMatchObject({ shifts: 0, screenshots: 0 });
  });

  it('leaves the last shift, an unfinished one, and those of today, whose cost counts', async () => {
    config = await factory.config({ 'retention.shifts': '1s', 'retention.screenshots': '1s' });
    keep(OLD, { verdict: null });
    keep('20260531-010000');
    keep('20260531-110000');
    await tidy(config, log, NOW);
    expect(readdirSync(shift(OLD))).toContain('a-desktop.png');
    expect(existsSync(shift('20260531-010000'))).toBe(true);
    expect(readdirSync(shift('20260531-110000'))).toContain('a-desktop.png');
  });

  it('leaves what a stranded branch needs: the shift that has its findings, and its session', async () => {
    keep(OLD);
    keep(RECENT);
    await session(OLD);
    await strand(OLD, OLD);
    await tidy(config, log, NOW);
    expect(readdirSync(shift(OLD))).toContain('a-desktop.png');
    expect(existsSync(chain(OLD))).toBe(true);

    await (await openLine({ config, factory: '0123456789ab' })).deleteBranch(`shift/${OLD}`);
    expect(await tidy(config, log, NOW)).toMatchObject({ shifts: 1, sessions: 1 });
    expect(existsSync(chain(OLD))).toBe(false);
  });

  it('clears sessions whose row is in the store, but none without a row, and no row at all', async () => {
    await session(OLD);
    await session('20260102-000000', false);
    await session(RECENT);
    expect(await tidy(config, log, NOW)).toMatchObject({ sessions: 1 });
    expect(readdirSync(join(config.data, 'sessions')).sort()).toEqual(['20260102-000000', RECENT]);
    expect(readFileSync(new DatasetStore(join(config.data, 'dataset')).rowPath(OLD), 'utf8')).toContain('"Done"');
    expect(await new Outbox(config.data).ids()).toEqual([OLD, RECENT]);
  });

  it('with a hub, leaves the session of a row that waits for it', async () => {
    config = await factory.config({ 'dataset.hub.repo': 'a/b', provider: 'rehearsal' });
    await session(OLD);
    expect(await tidy(config, log, NOW)).toMatchObject({ sessions: 0 });
    await new Outbox(config.data).remove(OLD);
    expect(await tidy(config, log, NOW)).toMatchObject({ sessions: 1 });
  });

  it('clears the folder of a chain that never began, once it is old', async () => {
    const folder = join(config.data, 'sessions', `open-${OLD}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(config.data, 'sessions', 'a-file'), '');
    expect(await tidy(config, log, NOW)).toMatchObject({ sessions: 0 });
    const then = new Date('2026-01-01T00:00:00Z');
    utimesSync(folder, then, then);
    expect(await tidy(config, log, NOW)).toMatchObject({ sessions: 1 });
    expect(existsSync(folder)).toBe(false);
  });

  it("packs the line's git dir once a day, and loses nothing of it", async () => {
    await strand(RECENT, RECENT);
    const objects = join(config.data, 'line.git', 'objects');
    const loose = () => readdirSync(objects).filter((name) => /^[0-9a-f]{2}$/.test(name)).length;
    expect(loose()).toBeGreaterThan(0);
    expect(await tidy(config, log, NOW)).toMatchObject({ packed: true });
    expect(loose()).toBe(0);
    const [stranded] = await (await openLine({ config, factory: '0123456789ab' })).stranded();
    expect(stranded).toMatchObject({ branch: `shift/${RECENT}`, session: RECENT });
    expect(await tidy(config, log, NOW)).toMatchObject({ packed: false });
    expect(await tidy(config, log, new Date(NOW.getTime() + 86_400_000))).toMatchObject({ packed: true });
  });

  it('has nothing to do in a data folder that is new', async () => {
    expect(await tidy(config, log, NOW)).toEqual({ shifts: 0, screenshots: 0, sessions: 0, packed: false });
    expect(existsSync(join(config.data, 'line.git'))).toBe(false);
  });
});
