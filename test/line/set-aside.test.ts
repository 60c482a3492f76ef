import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Line } from '../../src/line/line.ts';
import { type Bench, SESSION, SHIFT, bench, build } from './helpers.ts';

const BRANCH = `quarantine/${SHIFT}`;
let at: Bench;
let line: Line;
let commit: string;
beforeEach(async () => {
  at = bench();
  line = await at.open();
  await line.newBranch(SHIFT, await line.fetch());
  build(at.checkout, 'second', 'first');
  ({ commit } = await line.snapshot({ shift: SHIFT, session: SESSION, continued: 3 }));
  await line.push();
  await line.quarantine(`shift/${SHIFT}`);
});
afterEach(() => at.remove());

it('tells the branches in quarantine, also in a line that only fetched them', async () => {
  const told = { branch: BRANCH, commit, shift: SHIFT, at: expect.any(Date) };
  expect(await line.setAside()).toEqual([told]);
  const other = await at.open({ gitDir: `${at.gitDir}.other` });
  await other.fetch();
  expect(await other.setAside()).toEqual([told]);
});

it('gives one back with the same files, its session, and no continuation counted', async () => {
  await line.release(BRANCH);
  expect(at.origin.branches()).toEqual(['main', `shift/${SHIFT}`]);
  expect(await line.setAside()).toEqual([]);
  await line.fetch();
  const [found] = await line.stranded();
  expect(found).toMatchObject({ branch: `shift/${SHIFT}`, session: SESSION, continued: 0, state: 'continuable' });
  expect(await line.differs(commit, found?.commit as string)).toBe(false);
});

it('can be continued by the next shift once it was given back', async () => {
  await line.release(BRANCH);
  const base = await line.fetch();
  const [found] = await line.stranded();
  if (!found) throw new Error('nothing is stranded');
  await line.continueBranch(found, '20260102-040506', base);
  expect((await line.current())?.branch).toBe(`shift/${SHIFT}`);
});

it('forgets one that is dropped, here and at the origin', async () => {
  await line.deleteBranch(BRANCH);
  expect(at.origin.branches()).toEqual(['main']);
  expect(await line.setAside()).toEqual([]);
});

it('keeps at home what holds a known secret when it is given back', async () => {
  const careful = await at.open({ gitDir: `${at.gitDir}.secret`, secrets: ['hunter2-hunter2'] });
  await careful.newBranch('20260102-050607', await careful.fetch());
  build(at.checkout, 'hunter2-hunter2', 'first');
  await careful.snapshot({ shift: '20260102-050607', continued: 3 });
  await careful.quarantine('shift/20260102-050607');
  await careful.release('quarantine/20260102-050607');
  expect(at.origin.branches()).toEqual(['main', BRANCH]);
  expect((await careful.stranded()).map(({ branch }) => branch)).toEqual(['shift/20260102-050607']);
});
