import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/load.ts';
import { type ShiftRecord, shiftRecord } from '../../src/shift/record.ts';
import { workShift } from '../../src/shift/shift.ts';
import { type TestFactory, makeFactory } from '../helpers/factory.ts';

/** The row's shape as far as this test reads it. */
interface Row {
  complete: boolean;
  provider: string;
  messages: {
    role: string;
    type: string;
    content: unknown;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    tool_call_id?: string;
  }[];
  images: string[];
  machinery: {
    outcome: string;
    catalogue_check: string;
    probe: string;
    committed: boolean;
    commit: string;
    machine: { slug: string };
    files: Record<string, string>;
    shift: { looked: { views: number; afterChange: number } };
  };
}

describe('a whole shift, worked by the rehearsal', () => {
  let factory: TestFactory;
  let config: Config;
  let record: ShiftRecord;
  let row: Row;
  let rowFolder: string;

  beforeAll(async () => {
    factory = await makeFactory({ shelf: 'but one' });
    config = await factory.config();
    record = await workShift({ config });
    rowFolder = join(config.data, 'dataset', 'trajectories', record.session ?? 'none');
    if (existsSync(rowFolder)) row = JSON.parse(readFileSync(join(rowFolder, `${record.session}.jsonl`), 'utf8'));
  }, 180_000);
  afterAll(() => factory.remove());

  it('is green, and every station passed', () => {
    expect(record.stations.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(record).toMatchObject({ verdict: 'green', provider: 'rehearsal', outcome: 'settled' });
    expect(
      shiftRecord.parse(JSON.parse(readFileSync(join(config.data, 'shifts', record.id, 'shift.json'), 'utf8'))),
    ).toEqual(record);
  });

  it('landed one commit on main, which touches only site/ and names shift and session', () => {
    expect(factory.git('rev-parse', 'main')).toBe(record.commit);
    expect(factory.git('rev-list', '--count', 'main')).toBe('2');
    const files = factory.git('show', '--name-only', '--format=', 'main').split('\n');
    expect(files).toHaveLength(5);
    for (const file of files) expect(file).toMatch(/^site\/machines(\.json|\/)/);
    expect(factory.git('log', '-1', '--format=%(trailers:key=Shift,valueonly)').trim()).toBe(record.id);
    expect(factory.git('log', '-1', '--format=%(trailers:key=Session,valueonly)').trim()).toBe(record.session);
    expect(factory.git('log', '-1', '--format=%s')).toMatch(/^shift: .+ - .+/);
  });

  it('left the checked-out main clean, with the new machine in it, and no branch behind', () => {
    expect(factory.git('status', '--porcelain')).toBe('');
    expect(existsSync(join(factory.root, 'site', 'machines', record.machine as string, 'index.html'))).toBe(true);
    expect(factory.git('branch', '--list', 'shift/*')).toBe('');
  });

  it('kept a complete row with the calls and every image the model was shown', () => {
    expect(row).toMatchObject({ complete: true, provider: 'rehearsal' });
    expect(row.machinery).toMatchObject({
      outcome: 'settled',
      catalogue_check: 'success',
      probe: 'success',
      committed: true,
      commit: record.commit,
    });
    expect(row.machinery.machine.slug).toBe(record.machine);
    expect(Object.keys(row.machinery.files).sort()).toEqual(['index.html', 'machine.css', 'machine.js', 'manual.html']);
    const calls = row.messages.flatMap((message) => message.tool_calls ?? []);
    const answered = new Set(row.messages.map(({ tool_call_id }) => tool_call_id));
    for (const { id } of calls) expect(answered).toContain(id);
    expect(calls.filter((call) => call.function.name === 'view').length).toBeGreaterThanOrEqual(6);
    expect(row.machinery.shift.looked.afterChange).toBeGreaterThan(0);

    const shown = row.messages.flatMap(({ content }) =>
      Array.isArray(content) ? content.flatMap((part) => part.image ?? []) : [],
    );
    expect(shown.length).toBeGreaterThanOrEqual(6);
    for (const path of shown as string[]) {
      const bytes = readFileSync(join(rowFolder, path));
      expect(path).toBe(`images/${createHash('sha256').update(bytes).digest('hex')}.png`);
    }
    expect(new Set(shown)).toEqual(new Set(row.images));
  });

  it("kept the log, the gates' reports and the screenshots", () => {
    const names = readdirSync(join(config.data, 'shifts', record.id));
    expect(names).toEqual(
      expect.arrayContaining(['shift.json', 'log.ndjson', 'agent.log', 'check.json', 'probe.json', 'scope.json']),
    );
    expect(names.filter((name) => name.endsWith('.png'))).toHaveLength(3);
    expect(readdirSync(join(config.data, 'trees'))).toEqual([]);
    expect(readdirSync(join(config.data, 'scratch'))).toEqual([]);
  });

  it('is followed by an idle shift once the repertoire is on the shelf, which lands and keeps nothing', async () => {
    const last = await workShift({ config });
    expect(last).toMatchObject({
      verdict: 'idle',
      reason: expect.stringContaining('rehearsal'),
      session: null,
      commit: null,
    });
    expect(factory.git('branch', '--list', 'shift/*')).toBe('');
  });
});
