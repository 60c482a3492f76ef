import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { endLeftovers, findLeftovers, markOf, withDescendants } from '../../src/harness/leftovers.ts';
import { processTable } from '../../src/support/proc.ts';
import { signalGroup, start } from '../../src/support/process.ts';
import { alive } from './bench.ts';

let data: string;
let other: string;
const started: number[] = [];
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'machinery-left-'));
  other = await mkdtemp(join(tmpdir(), 'machinery-left-'));
});
afterEach(async () => {
  for (const pid of started.splice(0)) signalGroup(pid, 'SIGKILL');
  for (const folder of [data, other]) await rm(folder, { recursive: true, force: true });
});

function sleeper(mark: string, script = 'exec sleep 300'): number {
  const env = { PATH: '/usr/bin:/bin', MACHINERY_SHIFT: mark };
  const { pid } = start('/bin/sh', ['-c', script], { env, stdio: 'ignore' });
  started.push(pid as number);
  return pid as number;
}

it('ends what a run left, and nothing of another shift, another factory or nobody', async () => {
  const mine = sleeper(markOf('20260101-000000', data));
  const later = sleeper(markOf('20260101-003000', data));
  const theirs = sleeper(markOf('20260101-000000', other));
  const plain = sleeper('20260101-000000');
  await expect.poll(() => findLeftovers(data).length).toBe(2);
  expect(await endLeftovers(data, '20260101-000000')).toEqual({ ended: 1, left: [] });
  expect([mine, later, theirs, plain].map(alive)).toEqual([false, true, true, true]);
  expect((await endLeftovers(data)).ended).toBe(1);
  expect([later, theirs, plain].map(alive)).toEqual([false, true, true]);
});

it('takes along a child that dropped its mark', async () => {
  const pid = sleeper(markOf('20260101-000000', data), 'env -i sleep 301; true');
  await expect.poll(() => withDescendants(processTable(), [pid]).length).toBe(2);
  const [, child] = withDescendants(processTable(), [pid]).map((process) => process.pid);
  await endLeftovers(data);
  expect([pid, child as number].map(alive)).toEqual([false, false]);
});

it('finds nothing where nothing is', async () => {
  expect(await endLeftovers(data)).toEqual({ ended: 0, left: [] });
});
