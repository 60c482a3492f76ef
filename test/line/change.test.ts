import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Line } from '../../src/line/line.ts';
import { shown } from '../../src/line/tree.ts';
import { writeAll } from '../helpers/origin.ts';
import { type Bench, SESSION, SHIFT, bench, build } from './helpers.ts';

let at: Bench;
let line: Line;
let base: string;
beforeEach(async () => {
  at = bench();
  line = await at.open();
  base = await line.fetch();
  await line.newBranch(SHIFT, base);
});
afterEach(() => at.remove());

const branch = `shift/${SHIFT}`;
const asked = (more: object = {}) => ({ id: SHIFT, base, branch, commit: null, ...more });
const told = async (more: object = {}, most = 100) => {
  const change = await line.changeOf(asked(more), most);
  return change?.files.map(({ path, how, size, lines }) => [shown(path), how, size, lines]);
};
const snapshot = () => line.snapshot({ shift: SHIFT, session: SESSION, continued: 0 });

const SECOND = [
  ['site/machines.json', 'changed', 190, { added: 5, removed: 0 }],
  ['site/machines/second/index.html', 'added', 21, { added: 1, removed: 0 }],
  ['site/machines/second/machine.css', 'added', 22, { added: 1, removed: 0 }],
  ['site/machines/second/machine.js', 'added', 21, { added: 1, removed: 0 }],
  ['site/machines/second/manual.html', 'added', 22, { added: 1, removed: 0 }],
];

describe('the change of a shift', () => {
  it('is what its last snapshot holds beyond the main it began on, also when the branch is set aside', async () => {
    expect(await line.changeOf(asked(), 100)).toBeNull();
    build(at.checkout, 'second', 'first');
    const { commit } = await snapshot();
    expect(await told()).toEqual(SECOND);
    expect(await line.changeOf(asked(), 100)).toMatchObject({ commit, landed: false, more: 0 });
    const [catalogue] = (await line.changeOf(asked(), 1))?.files ?? [];
    const difference = await line.difference(String(catalogue?.before), String(catalogue?.id));
    expect(difference).toMatch(/^@@ .*\n/);
    expect(difference).toContain('+    "slug": "second",');
    expect(String(await line.object(String(catalogue?.id)))).toContain('"slug": "second"');
    await line.push();
    await line.quarantine(branch);
    expect(await told()).toEqual(SECOND);
    expect(await told({}, 2)).toEqual(SECOND.slice(0, 2));
    expect((await line.changeOf(asked(), 2))?.more).toBe(3);
  });

  it('is its own, whatever a later shift did on the same branch', async () => {
    build(at.checkout, 'second', 'first');
    await snapshot();
    writeAll(at.checkout, { 'site/machines/second/machine.js': 'one\ntwo\nthree\n' });
    await line.snapshot({ shift: '20260102-040405', session: SESSION, continued: 1 });
    expect(await told()).toEqual(SECOND);
    expect(await told({ id: '20260102-040405' })).toContainEqual([
      ...['site/machines/second/machine.js', 'added', 14],
      { added: 3, removed: 0 },
    ]);
  });

  it('is the landed commit once it landed, and is not here once the branch was dropped', async () => {
    build(at.checkout, 'second', 'first');
    const { commit: work } = await snapshot();
    const { commit } = await line.buildLanding(base, work, { subject: 's', body: '', shift: SHIFT, session: SESSION });
    expect(await line.publish(commit, base)).toBe('landed');
    await line.deleteBranch(branch);
    expect(await told({ commit })).toEqual(SECOND);
    expect((await line.changeOf(asked({ commit }), 9))?.landed).toBe(true);
    expect(await told()).toBeUndefined();
  });

  it('tells files that were removed, files that are no text, and names that are hostile', async () => {
    const name = 'site/machines/first/<img src=x>\n\u202e.js';
    rmSync(join(at.checkout, 'README.md'));
    writeAll(at.checkout, { [name]: 'x', 'site/picture.png': Buffer.from([0, 1, 2, 3]) });
    await snapshot();
    expect(await told()).toEqual([
      ['README.md', 'removed', 10, { added: 0, removed: 1 }],
      ['site/machines/first/<img src=x>\\u{a}\\u{202e}.js', 'added', 1, { added: 1, removed: 0 }],
      ['site/picture.png', 'added', 4, null],
    ]);
  });
});
