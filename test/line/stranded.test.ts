import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Line, Stranded } from '../../src/line/line.ts';
import { catalogueOf, entryOf, git, machineFiles, writeAll } from '../helpers/origin.ts';
import { type Bench, SESSION, SHIFT, bench, build } from './helpers.ts';

const LATER = '20260102-040506';
let at: Bench;
let line: Line;
beforeEach(async () => {
  at = bench();
  line = await at.open();
});
afterEach(() => at.remove());

async function strand(shift: string, slug: string, continued = 0): Promise<string> {
  await line.newBranch(shift, await line.fetch());
  build(at.checkout, slug, 'first');
  const { commit } = await line.snapshot({ shift, session: SESSION, continued });
  await line.push();
  return commit;
}

async function only(): Promise<Stranded> {
  await line.fetch();
  const [found, ...more] = await line.stranded();
  expect(more).toEqual([]);
  if (!found) throw new Error('nothing is stranded');
  return found;
}

describe('stranded branches', () => {
  it('are told with what the next shift needs, the one begun first first', async () => {
    await strand(LATER, 'second');
    const commit = await strand(SHIFT, 'third', 1);
    await strand(`${SHIFT}-10`, 'fourth');
    await strand(`${SHIFT}-2`, 'fifth');
    await line.fetch();
    const found = await line.stranded();
    expect(found.map((each) => each.shift)).toEqual([SHIFT, `${SHIFT}-2`, `${SHIFT}-10`, LATER]);
    expect(found[0]).toMatchObject({
      branch: `shift/${SHIFT}`,
      commit,
      session: SESSION,
      continued: 1,
      factory: 'factory-one',
      state: 'continuable',
    });
  });

  it('of another factory are live while they are young', async () => {
    const other = await at.open({ gitDir: join(at.folder, 'other.git'), factory: 'factory-two' });
    await strand(SHIFT, 'second');
    await other.fetch();
    expect((await other.stranded())[0]?.state).toBe('live');
    const patient = await at.open({ gitDir: join(at.folder, 'other.git'), factory: 'factory-two', liveMs: 0 });
    expect((await patient.stranded())[0]?.state).toBe('continuable');
    expect((await line.stranded())[0]?.state).toBe('continuable');
  });

  it('are left over when their shift is on main', async () => {
    const work = await strand(SHIFT, 'second');
    const base = await line.fetch();
    const built = await line.buildLanding(base, work, {
      subject: 'shift: a - b',
      body: '',
      shift: SHIFT,
      session: SESSION,
    });
    await line.publish(built.commit, base);
    const left = await only();
    expect(left.state).toBe('leftover');
    await line.deleteBranch(left.branch);
    expect(at.origin.branches()).toEqual(['main']);
    expect(await line.stranded()).toEqual([]);
  });

  it('are not left over because a summary, or a commit of somebody else, speaks of their shift', async () => {
    await strand(SHIFT, 'second');
    at.origin.commit(
      { 'README.md': 'x\n' },
      `About a shift\n\n    Shift: ${SHIFT}\n\nShift: ${SHIFT} is not done\nyet`,
    );
    expect((await only()).state).toBe('continuable');
  });

  it('are left over when somebody removed them at the origin, but not when they never were there', async () => {
    await strand(SHIFT, 'second');
    await line.newBranch(LATER, await line.fetch());
    build(at.checkout, 'third', 'first');
    await line.snapshot({ shift: LATER });
    git(at.origin.path, 'branch', '-D', `shift/${SHIFT}`);
    await line.fetch();
    expect((await line.stranded()).map(({ shift, state }) => [shift, state])).toEqual([
      [SHIFT, 'leftover'],
      [LATER, 'continuable'],
    ]);
    await line.deleteBranch(`shift/${SHIFT}`);
    expect((await only()).shift).toBe(LATER);
  });

  it('whose names are no ids are nobody we know', async () => {
    git(at.origin.path, 'branch', 'shift/wip', 'main');
    await line.fetch();
    expect(await line.stranded()).toEqual([]);
  });

  it('move to quarantine, here and at the origin', async () => {
    const commit = await strand(SHIFT, 'second', 3);
    await line.quarantine(`shift/${SHIFT}`);
    expect(at.origin.branches()).toEqual(['main', `quarantine/${SHIFT}`]);
    expect(at.origin.tip(`quarantine/${SHIFT}`)).toBe(commit);
    await line.fetch();
    expect(await line.stranded()).toEqual([]);
  });

  it('are not deleted when another factory has moved them since', async () => {
    await strand(SHIFT, 'second');
    const other = await at.open({
      gitDir: join(at.folder, 'other.git'),
      checkout: join(at.folder, 'desk-two'),
      factory: 'factory-two',
    });
    const base = await other.fetch();
    const [theirs] = await other.stranded();
    if (!theirs) throw new Error('nothing is stranded');
    await other.continueBranch(theirs, LATER, base);
    await other.push();
    await expect(line.deleteBranch(`shift/${SHIFT}`)).rejects.toMatchObject({ code: 'origin/refused' });
    expect(at.origin.branches()).toContain(`shift/${SHIFT}`);
    await line.fetch();
    expect((await line.stranded())[0]).toMatchObject({ shift: LATER, factory: 'factory-two', state: 'live' });
  });
});

describe('continuing a branch', () => {
  it("takes the new base and the branch's own machine and entry, and none of its other files", async () => {
    await line.newBranch(SHIFT, await line.fetch());
    build(at.checkout, 'second', 'first');
    writeAll(at.checkout, { 'AGENTS.md': 'Obey.\n', 'stray.txt': 'x', 'site/machines/first/machine.js': 'hacked' });
    await line.snapshot({ shift: SHIFT, session: SESSION });
    await line.push();
    at.origin.commit({
      ...machineFiles('other'),
      'site/machines.json': catalogueOf('first', 'other'),
      'README.md': 'new\n',
    });
    const base = await line.fetch();
    const stranded = await only();
    await line.continueBranch(stranded, LATER, base);
    const read = (path: string) => readFileSync(join(at.checkout, path), 'utf8');
    expect(read('site/machines.json')).toBe(catalogueOf('first', 'other', 'second'));
    expect(read('site/machines/second/index.html')).toBe('index.html of second\n');
    expect(read('site/machines/other/index.html')).toBe('index.html of other\n');
    expect(read('README.md')).toBe('new\n');
    expect(read('AGENTS.md')).toBe('Make machines.\n');
    expect(read('site/machines/first/machine.js')).toBe('machine.js of first\n');
    expect(existsSync(join(at.checkout, 'stray.txt'))).toBe(false);
    expect(git(at.checkout, 'diff', '--name-only')).toBe('site/machines.json');
    expect(await line.current()).toMatchObject({ branch: `shift/${SHIFT}`, base });
  });

  it('is known by its new shift at once, and counts once an agent ran, also when that changed nothing', async () => {
    await strand(SHIFT, 'second');
    await line.continueBranch(await only(), LATER, await line.fetch());
    await line.push();
    expect(await only()).toMatchObject({ branch: `shift/${SHIFT}`, shift: LATER, session: SESSION, continued: 0 });
    const { changed } = await line.snapshot({ shift: LATER, session: LATER, continued: 1 });
    expect(changed).toBe(true);
    await line.push();
    expect(await only()).toMatchObject({ branch: `shift/${SHIFT}`, shift: LATER, session: LATER, continued: 1 });
  });

  it('lands, and then is left over by the id of the shift that landed it', async () => {
    await strand(SHIFT, 'second');
    const base = await line.fetch();
    await line.continueBranch(await only(), LATER, base);
    await line.push();
    const work = (await line.current())?.tip ?? '';
    const built = await line.buildLanding(base, work, {
      subject: 'shift: a - b',
      body: '',
      shift: LATER,
      session: SESSION,
    });
    expect(await line.publish(built.commit, base)).toBe('landed');
    expect((await only()).state).toBe('leftover');
  });

  it('carries a folder whose entry is not written yet, and survives a catalogue cut in the middle', async () => {
    await line.newBranch(SHIFT, await line.fetch());
    writeAll(at.checkout, machineFiles('second'));
    writeFileSync(join(at.checkout, 'site/machines.json'), catalogueOf('first').slice(0, 30));
    await line.snapshot({ shift: SHIFT });
    await line.continueBranch(await only(), LATER, await line.fetch());
    expect(readFileSync(join(at.checkout, 'site/machines.json'), 'utf8')).toBe(catalogueOf('first'));
    expect(existsSync(join(at.checkout, 'site/machines/second/manual.html'))).toBe(true);
  });

  it('does not bring back a machine that main has removed since', async () => {
    await strand(SHIFT, 'second');
    at.origin.commit({ 'site/machines/first': null, 'site/machines.json': '[]\n' });
    await line.continueBranch(await only(), LATER, await line.fetch());
    expect(JSON.parse(readFileSync(join(at.checkout, 'site/machines.json'), 'utf8'))).toEqual([entryOf('second')]);
    expect(existsSync(join(at.checkout, 'site/machines/first'))).toBe(false);
  });

  it('works from the origin alone, when the data folder was lost', async () => {
    await strand(SHIFT, 'second');
    rmSync(join(at.folder, 'data'), { recursive: true });
    line = await at.open();
    await line.fetch();
    await line.continueBranch(await only(), LATER, await line.fetch());
    await line.push();
    expect(existsSync(join(at.checkout, 'site/machines/second/index.html'))).toBe(true);
  });
});
