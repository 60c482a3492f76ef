import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/load.ts';
import { createNotifier } from '../../src/factory/notify.ts';
import type { FactoryEvent } from '../../src/factory/types.ts';
import type { ShiftRecord } from '../../src/shift/record.ts';
import { type TestFactory, makeFactory } from '../helpers/factory.ts';
import { type Listener, listener } from '../helpers/listener.ts';
import { keepRecord, recordOf } from '../helpers/records.ts';

const SECRET = 'sk-or-v1-0123456789abcdef';

describe('the webhooks', () => {
  let factory: TestFactory;
  let server: Listener | null = null;
  const lines: { level: string; facts: object; text: string }[] = [];
  const log = {
    info: (facts: object, text: string) => void lines.push({ level: 'info', facts, text }),
    warn: (facts: object, text: string) => void lines.push({ level: 'warn', facts, text }),
  } as unknown as Parameters<typeof createNotifier>[1];

  beforeEach(async () => {
    factory = await makeFactory();
    lines.length = 0;
  });
  afterEach(async () => {
    await server?.close();
    server = null;
    factory.remove();
  });

  const configure = (flags: Record<string, unknown> = {}): Promise<Config> =>
    factory.config({ webhooks: [`${server?.address}/hook/T0-secret-path`], ...flags }, { OPENROUTER_API_KEY: SECRET });
  const ended = (record: ShiftRecord): FactoryEvent => ({
    at: '2026-05-04T12:30:00.000Z',
    type: 'end',
    shift: record.id,
    record,
  });
  async function tell(config: Config, record: ShiftRecord, backoffMs = [1, 1, 1]) {
    keepRecord(config.data, record);
    const notifier = createNotifier(config, log, { backoffMs });
    notifier.observe(ended(record));
    await notifier.close(10_000);
    return (server as Listener).heard.map(({ body }) => JSON.parse(body));
  }
  const red = (id = '20260504-120000', differs: Partial<ShiftRecord> = {}) =>
    recordOf(id, {
      verdict: 'red',
      reason: 'probe: 2 errors',
      stations: [
        {
          name: 'probe',
          attempt: 1,
          status: 'failed',
          startedAt: '2026-05-04T12:20:00.000Z',
          durationMs: 5,
          summary: '',
          error: { code: 'gate/errors', message: '2 errors', mend: 'Read the findings.' },
        },
      ],
      ...differs,
    });

  it('hear of a red shift: what failed, how to mend it, where to see it', async () => {
    server = await listener(() => ({ status: 200 }));
    const config = await configure({ 'console.public_url': 'https://room.example/line/' });
    const [told] = await tell(config, red());
    expect(told).toMatchObject({
      event: 'red',
      shift: '20260504-120000',
      verdict: 'red',
      station: 'probe',
      error: { code: 'gate/errors', mend: 'Read the findings.' },
      url: 'https://room.example/line/shifts/20260504-120000',
    });
    expect(told.text).toContain('Shift 20260504-120000 is red: probe: 2 errors. Mend: Read the findings.');
    expect(told.text).toContain('<https://room.example/line/shifts/20260504-120000|Show it>');
    expect(server.heard[0]).toMatchObject({ method: 'POST', path: '/hook/T0-secret-path' });
    expect(server.heard[0]?.headers['content-type']).toBe('application/json');
  });

  it('hear nothing of a green shift after a green one, nor of an idle one', async () => {
    server = await listener(() => ({ status: 200 }));
    const config = await configure();
    keepRecord(config.data, recordOf('20260504-113000'));
    expect(await tell(config, recordOf('20260504-120000'))).toEqual([]);
    expect(await tell(config, recordOf('20260504-123000', { verdict: 'idle' }))).toEqual([]);
  });

  it('hear once that the line has recovered, idle shifts in between or not', async () => {
    server = await listener(() => ({ status: 200 }));
    const config = await configure();
    keepRecord(config.data, red('20260504-110000'));
    keepRecord(config.data, recordOf('20260504-113000', { verdict: 'idle' }));
    expect(await tell(config, recordOf('20260504-120000'))).toMatchObject([{ event: 'recovery' }]);
    expect(await tell(config, recordOf('20260504-123000'))).toHaveLength(1);
  });

  it('hear of a branch that went to quarantine, beside the verdict', async () => {
    server = await listener(() => ({ status: 200 }));
    const told = await tell(await configure(), red('20260504-120000', { quarantined: ['shift/20260503-120000'] }));
    expect(told.map(({ event }) => event).sort()).toEqual(['quarantine', 'red']);
    expect(told.find(({ event }) => event === 'quarantine').text).toContain('shift/20260503-120000');
    const own = await tell(await configure(), red('20260504-123000', { quarantined: ['shift/20260504-123000'] }));
    expect(own.findLast(({ event }) => event === 'red').text).toContain('Mend: It was continued too often');
  });

  it('are tried again while the receiver fails, and then told', async () => {
    server = await listener((_request, n) => ({ status: [500, 429, 200][n] ?? 200 }));
    expect(await tell(await configure(), red())).toHaveLength(3);
    expect(lines.at(-1)).toMatchObject({ level: 'info', text: 'a webhook was told' });
  });

  it('are not tried again when the receiver refuses, and given up after the last try', async () => {
    server = await listener(() => ({ status: 404 }));
    expect(await tell(await configure(), red())).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ level: 'warn', facts: { why: 'it answered 404' } });
    await server.close();
    server = await listener(() => ({ status: 503 }));
    expect(await tell(await configure(), red(), [1, 1])).toHaveLength(3);
    expect(lines.at(-1)).toMatchObject({ level: 'warn', facts: { attempts: 3 } });
  });

  it('wait as long as Retry-After says', async () => {
    const at: number[] = [];
    server = await listener((_request, n) => {
      at.push(performance.now());
      return n === 0 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200 };
    });
    await tell(await configure(), red());
    expect((at[1] as number) - (at[0] as number)).toBeGreaterThan(950);
  });

  it('are given up when the factory stops, without keeping it', async () => {
    server = await listener(() => ({ status: 500 }));
    const config = await configure();
    keepRecord(config.data, red());
    const notifier = createNotifier(config, log, { backoffMs: [600_000] });
    notifier.observe(ended(red()));
    await notifier.close(200);
    expect(lines.at(-1)).toMatchObject({ level: 'warn', facts: { why: 'the factory stopped' } });
  });

  it('are never sent a secret, and their addresses are not logged', async () => {
    server = await listener(() => ({ status: 200 }));
    const base64 = Buffer.from(`x${SECRET}`).toString('base64');
    await tell(await configure(), red('20260504-120000', { reason: `the provider said ${SECRET} and ${base64}` }));
    expect(server.heard[0]?.body).toContain('the provider said [redacted]');
    expect(server.heard[0]?.body).not.toContain(base64.slice(4, 24));
    expect(JSON.stringify(lines)).not.toContain('T0-secret-path');
  });

  it("take no mention and no link from an agent's words", async () => {
    server = await listener(() => ({ status: 200 }));
    const [told] = await tell(
      await configure(),
      red('20260504-120000', { reason: '<!channel> <http://bad|here> & so' }),
    );
    expect(told.text).toContain('&lt;!channel&gt; &lt;http://bad|here&gt; &amp; so');
    expect(told.text).not.toContain('<!channel>');
  });
});
