import { join } from 'node:path';
import { DatasetStore } from '../../src/dataset/store.ts';
import type { MachineryBlock } from '../../src/trajectory/machinery.ts';
import type { TrajectoryFacts } from '../../src/trajectory/types.ts';
import {
  type Line,
  attachment,
  bot,
  call,
  checkpoint,
  event,
  reasoning,
  request,
  reset,
  result,
  user,
  writeImage,
  writeLog,
} from '../session/logs.ts';

/** A secret that can be spelt in every form: it has characters that URLs and JSON escape. */
export const SECRET = 'sk-7"Zq/fp+Xw=Kd9&Ru';

export const MACHINE = { slug: 'tide-gate', name: 'Tide gate', kind: 'sluice', domain: 'water', era: '1950s' };

/** A picture of one pixel; what follows its end is ignored by whoever opens it, and makes it another image. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
export const picture = (text: string): Buffer => Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.from(text)]);

/** A machinery block as a shift that landed makes it. */
export const block = (facts: TrajectoryFacts): MachineryBlock => ({
  repository: 'https://example.org/factory.git',
  run: facts.id,
  commit: 'c'.repeat(40),
  outcome: facts.outcome,
  catalogue_check: 'success',
  probe: 'success',
  committed: true,
  machine: MACHINE,
  files: { 'index.html': '<!doctype html>' },
  shift: { findings: { 'look/overflow': 2 }, cost: 0.5, tokens: { input: 1000, output: 100 } },
});

export const rowId = (n: number): string =>
  `202605${String(4 + Math.floor(n / 24)).padStart(2, '0')}-${String(n % 24).padStart(2, '0')}0000`;

/**
 * Ten sessions as a factory meets them, put into `<data>/dataset`: finished ones with images, failed, aborted, cut off,
 * compacted, chained (2 continues 1; 9 continues 8 continues 7), with images and without.
 */
export async function tenRows(data: string): Promise<DatasetStore> {
  const sessions = join(data, 'sessions');
  const store = new DatasetStore(join(data, 'dataset'));
  const shots = async (n: number, slug: string): Promise<Line[]> => {
    const images = await Promise.all(
      ['desktop', 'phone', 'manual'].map((kind) => writeImage(sessions, rowId(n), picture(`${slug} ${kind} ${n}`))),
    );
    const views = ['desktop', 'phone', 'manual'].flatMap((kind) =>
      call(`v-${kind}`, 'view', { path: `/tmp/machinery/${slug}-${kind}.png` }, 'attached'),
    );
    return [...views, attachment(`/tmp/machinery/${slug}-desktop.png; two more`, ...images)];
  };
  const opening: Line[] = [
    user('Begin'),
    event('iteration'),
    ...call('c1', 'read', { path: 'site/machines.json' }, '[]'),
  ];
  const critique: Line[] = [
    reasoning('The legend is too faint.'),
    bot('I darken it.'),
    ...call('c2', 'write', { path: 'site/machines/tide-gate/machine.css', content: '.x{}' }),
  ];
  const finished = async (n: number): Promise<Line[]> => [
    ...opening,
    ...(await shots(n, 'tide-gate')),
    ...critique,
    result(),
  ];
  const unfinished = (facts: TrajectoryFacts): MachineryBlock => ({
    ...block(facts),
    ...{ commit: '', catalogue_check: '', probe: '', committed: false, machine: null, files: {} },
  });
  const put = async (n: number, lines: Line[], made: typeof block, meta: Record<string, unknown> = {}) => {
    await writeLog(sessions, rowId(n), lines, meta);
    await store.put(sessions, rowId(n), made);
  };
  await put(0, await finished(0), block);
  await put(1, [...opening, request('c9', 'shell', { command: 'sleep' })], unfinished);
  await put(2, await finished(2), block, { resumedFrom: rowId(1) });
  await put(3, [...opening, result({ reason: 'failed', code: 1, message: 'No idea.' })], unfinished, {
    model: 'model-2',
  });
  await put(4, [...opening, '{"kind":"mess'], unfinished);
  await put(
    5,
    [...opening, reset, checkpoint('so far'), ...critique, reset, checkpoint('later'), ...(await finished(5))],
    block,
  );
  await put(6, [user('Begin'), bot('I cannot.'), result({ reason: 'aborted', code: 1 })], unfinished);
  await put(7, [...opening, ...(await shots(7, 'dry-dock')), ...critique], unfinished);
  await put(8, [...opening, result({ reason: 'time', code: 1 })], unfinished, { resumedFrom: rowId(7) });
  const gated = (facts: TrajectoryFacts): MachineryBlock => ({
    ...block(facts),
    probe: 'failure',
    committed: false,
    machine: null,
  });
  await put(9, await finished(9), gated, { resumedFrom: rowId(8) });
  return store;
}
