import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Line } from '../../src/line/line.ts';
import type { FactoryError } from '../../src/support/errors.ts';
import { git, writeAll } from '../helpers/origin.ts';
import { type Bench, SHIFT, bench, build } from './helpers.ts';

const SECRET = 'hf_s3cr3t/Value+for"tests';

let at: Bench;
let line: Line;
let base: string;
beforeEach(async () => {
  at = bench();
  line = await at.open({ secrets: [SECRET] });
  base = await line.fetch();
  await line.newBranch(SHIFT, base);
  build(at.checkout, 'second', 'first');
});
afterEach(() => at.remove());

async function refused(push: Promise<unknown>): Promise<FactoryError> {
  const error = await push.then(
    () => {
      throw new Error('it was pushed');
    },
    (thrown: FactoryError) => thrown,
  );
  expect(error.code).toBe('line/secret');
  expect(JSON.stringify([error.message, error.mend, error.data])).not.toContain(SECRET);
  return error;
}

it.each([
  ['raw', SECRET],
  ['base64, in the middle of something', Buffer.from(`x=${SECRET}!`).toString('base64')],
  ['in a URL', encodeURIComponent(SECRET)],
  ['in JSON', JSON.stringify({ SECRET })],
  ['hex', Buffer.from(SECRET).toString('hex')],
])('pushes nothing that holds a known secret: %s', async (_name, text) => {
  writeAll(at.checkout, { 'site/machines/second/machine.js': `const a = ${text};` });
  await line.snapshot({ shift: SHIFT });
  const error = await refused(line.push());
  expect(error.message).toContain('site/machines/second/machine.js');
  expect(at.origin.branches()).toEqual(['main']);
});

it('finds one in the name of a file, and does not repeat the name', async () => {
  writeAll(at.checkout, { [`notes/${SECRET.replace('/', '')}`]: 'x' });
  const other = await at.open({ secrets: [SECRET.replace('/', '')] });
  await other.snapshot({ shift: SHIFT });
  const error = await other.push().catch((thrown: FactoryError) => thrown);
  expect(error).toMatchObject({ code: 'line/secret' });
  expect(JSON.stringify([(error as FactoryError).message, (error as FactoryError).data])).not.toContain(
    SECRET.replace('/', ''),
  );
});

it('finds one that a later snapshot has removed again, since the push would bring both', async () => {
  writeAll(at.checkout, { 'notes.txt': SECRET });
  await line.snapshot({ shift: SHIFT });
  rmSync(join(at.checkout, 'notes.txt'));
  await line.snapshot({ shift: SHIFT });
  await refused(line.push());
});

it('finds one that the summary of the agent brings into the landed commit', async () => {
  const { commit } = await line.snapshot({ shift: SHIFT });
  const built = await line.buildLanding(base, commit, {
    subject: 'shift: a - b',
    body: `I saw ${SECRET}`,
    shift: SHIFT,
    session: null,
  });
  await refused(line.publish(built.commit, base));
  expect(at.origin.tip()).toBe(base);
});

it('does not mind one that the origin has already, and pushes what is clean', async () => {
  at.origin.commit({ 'old.txt': SECRET });
  await line.newBranch('20260102-040506', await line.fetch());
  build(at.checkout, 'second', 'first');
  await line.snapshot({ shift: '20260102-040506' });
  await line.push();
  expect(at.origin.branches()).toContain('shift/20260102-040506');
});

it('sets a branch that holds one aside here, and never at the origin', async () => {
  await line.snapshot({ shift: SHIFT });
  await line.push();
  writeAll(at.checkout, { 'notes.txt': SECRET });
  const { commit } = await line.snapshot({ shift: SHIFT });
  await line.quarantine(`shift/${SHIFT}`);
  expect(at.origin.branches()).toEqual(['main']);
  expect(git(at.gitDir, 'rev-parse', `quarantine/${SHIFT}`)).toBe(commit);
  await line.fetch();
  expect(await line.stranded()).toEqual([]);
});
