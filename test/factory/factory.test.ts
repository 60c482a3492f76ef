import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, loadConfig } from '../../src/config/load.ts';
import { serveControl } from '../../src/factory/control.ts';
import { askFactory, factoryRuns, followShift } from '../../src/factory/control-client.ts';
import { Factory } from '../../src/factory/factory.ts';
import type { FactoryEvent, FactoryStatus } from '../../src/factory/types.ts';
import type { ShiftRecord } from '../../src/shift/record.ts';
import type { workShift } from '../../src/shift/shift.ts';

const log = pino({ level: 'silent' });

describe('a factory', () => {
  let root: string;
  let config: Config;
  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'machinery-factory-'));
    await writeFile(join(root, 'factory.yaml'), 'schedule: "0 0 1 1 *"\n');
    config = await loadConfig({ cwd: root, env: {} });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    await rm(root, { recursive: true, force: true });
  });

  /** Shifts that end when the test says so, or when they are stopped. */
  function bench() {
    const begun: { end: () => void; signal: AbortSignal }[] = [];
    const work: typeof workShift = ({ signal = new AbortController().signal, watcher }) =>
      new Promise((resolve) => {
        const id = `20260101-00000${begun.length}`;
        const record = { id, verdict: null, reason: '', stations: [] } as unknown as ShiftRecord;
        const finish = (verdict: ShiftRecord['verdict']) => resolve({ ...record, verdict });
        watcher?.station?.(record, {
          name: 'work',
          attempt: 1,
          status: null,
          startedAt: '',
          durationMs: 0,
          summary: '',
        });
        signal.addEventListener('abort', () => finish('interrupted'));
        begun.push({ end: () => finish('green'), signal });
      });
    return { work, begun };
  }

  async function started(work: typeof workShift) {
    const factory = new Factory({ config, log, work });
    stops.push(() => factory.stop());
    await Promise.all([factory.start(), factory.start()]);
    return factory;
  }

  it('is the only one on its data folder, and lets go of it when it stops', async () => {
    const { work } = bench();
    const first = await started(work);
    await expect(new Factory({ config, log, work }).start()).rejects.toMatchObject({
      code: 'lock/held',
      message: expect.stringContaining(String(process.pid)),
    });
    await Promise.all([first.stop(), first.stop()]);
    await started(work);
  });

  it('stays paused over a restart, until it is resumed', async () => {
    const { work } = bench();
    const first = await started(work);
    expect(first.status().nextTick).toMatch(/-01-01T00:00:00.000Z$/);
    await first.pause('night watch');
    expect(first.status()).toMatchObject({ nextTick: null, paused: { by: 'night watch' } });
    await first.stop();
    const second = await started(work);
    expect(second.status().paused).toMatchObject({ by: 'night watch' });
    await second.resume('day watch');
    expect(second.status()).toMatchObject({ paused: null, nextTick: expect.stringContaining('T00:00') });
  });

  it('stops the running shift when it stops, refuses the one that waits, and takes no more', async () => {
    const { work, begun } = bench();
    const factory = await started(work);
    const first = factory.request('a');
    const second = factory.request('b');
    const refused = expect(second.done).rejects.toMatchObject({ code: 'factory/stopping' });
    const stopping = factory.stop();
    expect(factory.status().state).toBe('stopping');
    await refused;
    await stopping;
    expect((await first.done).verdict).toBe('interrupted');
    expect(begun).toHaveLength(1);
    expect(() => factory.request('c')).toThrow(expect.objectContaining({ code: 'factory/stopping' }));
  });

  it('stops one shift without stopping itself', async () => {
    const { work } = bench();
    const factory = await started(work);
    expect(factory.stopShift('nobody')).toBe(false);
    const asked = factory.request('a');
    expect(factory.stopShift('operator')).toBe(true);
    expect((await asked.done).verdict).toBe('interrupted');
    expect(factory.status().state).toBe('waiting');
  });

  it('tells those who listen, and goes on when one of them fails', async () => {
    const { work, begun } = bench();
    const factory = await started(work);
    const heard: FactoryEvent[] = [];
    factory.listen(() => {
      throw new Error('a bad listener');
    });
    const end = factory.listen((event) => heard.push(event));
    const asked = factory.request('a');
    begun[0]?.end();
    await asked.done;
    expect(heard.map(({ type }) => type)).toEqual(expect.arrayContaining(['status', 'station', 'end']));
    end();
    const count = heard.length;
    await factory.pause('x');
    expect(heard).toHaveLength(count);
  });

  it('answers on its socket: status, pause, and a shift that is followed to its end', async () => {
    const { work, begun } = bench();
    expect(await factoryRuns(config.data)).toBe(false);
    await expect(askFactory(config.data, 'GET', '/status')).rejects.toMatchObject({ code: 'factory/unreachable' });
    const factory = await started(work);
    const control = await serveControl(config.data, factory, log);
    stops.push(() => control.close());
    expect(await factoryRuns(config.data)).toBe(true);
    expect(await askFactory<FactoryStatus>(config.data, 'POST', '/pause')).toMatchObject({
      paused: { by: 'the command line' },
    });

    const lines: string[] = [];
    for await (const line of followShift(config.data)) {
      lines.push(line.type);
      if (line.type === 'asked') expect(line.outcome).toBe('started');
      if (line.type === 'asked') begun[0]?.end();
      if (line.type === 'end') expect(line.record.verdict).toBe('green');
    }
    expect(lines[0]).toBe('asked');
    expect(lines.at(-1)).toBe('end');
    expect(lines.filter((type) => type === 'end')).toHaveLength(1);
  });

  it('refuses to be made with a schedule that is not one', async () => {
    const wrong = { ...config, schedule: 'whenever' };
    expect(() => new Factory({ config: wrong, log })).toThrow(expect.objectContaining({ code: 'config/invalid' }));
  });
});
