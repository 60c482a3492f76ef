import { existsSync, lstatSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { catalogueOf, git, machineFiles } from '../helpers/origin.ts';
import { type Bench, SESSION, SHIFT, bench, build } from './helpers.ts';

let at: Bench;
beforeEach(() => {
  at = bench();
});
afterEach(() => at.remove());

const message = {
  subject: 'shift: Second - It does.',
  body: 'I built it.\nShift: 1\n\nShift: 2',
  shift: SHIFT,
  session: SESSION,
};

describe('a shift on the line', () => {
  it('lands exactly one commit that adds the machine and its entry', async () => {
    const line = await at.open();
    const base = await line.fetch();
    expect(base).toBe(at.origin.tip());
    await line.newBranch(SHIFT, base);
    expect(readFileSync(join(at.checkout, 'README.md'), 'utf8')).toBe('# Factory\n');
    build(at.checkout, 'second', 'first');
    const work = await line.snapshot({ shift: SHIFT, session: SESSION });
    expect(work.changed).toBe(true);
    await line.push();
    expect(at.origin.branches()).toEqual(['main', `shift/${SHIFT}`]);
    const built = await line.buildLanding(base, work.commit, message);
    expect(await line.publish(built.commit, base)).toBe('landed');
    expect(at.origin.tip()).toBe(built.commit);
    expect(git(at.origin.path, 'diff', '--name-only', base, 'main').split('\n')).toEqual([
      'site/machines.json',
      ...Object.keys(machineFiles('second')),
    ]);
    expect(git(at.origin.path, 'show', 'main:site/machines.json')).toBe(catalogueOf('first', 'second').trim());
    expect(git(at.origin.path, 'log', '-1', '--format=%P', 'main')).toBe(base);
    await line.deleteBranch(`shift/${SHIFT}`);
    expect(at.origin.branches()).toEqual(['main']);
    expect(await line.current()).toBeNull();
  });

  it('writes trailers that the summary of the agent cannot forge', async () => {
    const line = await at.open();
    const base = await line.fetch();
    await line.newBranch(SHIFT, base);
    build(at.checkout, 'second', 'first');
    const work = await line.snapshot({ shift: SHIFT, session: SESSION });
    const built = await line.buildLanding(base, work.commit, message);
    await line.publish(built.commit, base);
    const trailers = git(at.origin.path, 'log', '-1', '--format=%(trailers:only,unfold)', 'main');
    expect(trailers.trim().split('\n')).toEqual([`Shift: ${SHIFT}`, `Session: ${SESSION}`]);
    expect(await line.landedAs(SHIFT)).toBe(built.commit);
    expect(await line.landedAs('1')).toBeNull();
    expect(await line.landedAs('2')).toBeNull();
  });

  it('makes no snapshot when nothing changed', async () => {
    const line = await at.open();
    const base = await line.fetch();
    await line.newBranch(SHIFT, base);
    expect(await line.snapshot({ shift: SHIFT })).toMatchObject({ commit: base, changed: false });
    writeFileSync(join(at.checkout, 'note.txt'), 'x');
    const first = await line.snapshot({ shift: SHIFT });
    expect(first.changed).toBe(true);
    expect(await line.snapshot({ shift: SHIFT })).toMatchObject({ commit: first.commit, changed: false });
    expect((await line.snapshot({ shift: SHIFT, session: SESSION })).changed).toBe(true);
  });

  it('gives the agent a repository of its own to diff against', async () => {
    const line = await at.open();
    await line.newBranch(SHIFT, await line.fetch());
    expect(git(at.checkout, 'status', '--porcelain')).toBe('');
    writeFileSync(join(at.checkout, 'README.md'), 'changed\n');
    expect(git(at.checkout, 'diff', '--name-only')).toBe('README.md');
    expect(git(at.checkout, 'remote')).toBe('');
    expect(readFileSync(join(at.checkout, '.git', 'config'), 'utf8')).not.toContain('line.git');
  });

  it('exports a commit as it is, never the live checkout', async () => {
    const line = await at.open();
    const base = await line.fetch();
    await line.newBranch(SHIFT, base);
    build(at.checkout, 'second', 'first');
    const { commit } = await line.snapshot({ shift: SHIFT });
    writeFileSync(join(at.checkout, 'site/machines/second/index.html'), 'too late');
    const folder = join(at.folder, 'export');
    await line.exportTree(commit, folder);
    expect(readFileSync(join(folder, 'site/machines/second/index.html'), 'utf8')).toBe('index.html of second\n');
    expect(existsSync(join(folder, '.git'))).toBe(false);
  });

  it('exports beside another export what differs, and shares the rest with it', async () => {
    const line = await at.open();
    const base = await line.fetch();
    await line.newBranch(SHIFT, base);
    symlinkSync('README.md', join(at.checkout, 'link'));
    build(at.checkout, 'second', 'first');
    const { commit: one } = await line.snapshot({ shift: SHIFT });
    writeFileSync(join(at.checkout, 'site/machines/second/index.html'), 'changed');
    rmSync(join(at.checkout, 'site/machines/second/machine.js'));
    const { commit: two } = await line.snapshot({ shift: SHIFT, session: SESSION });
    const [a, b, plain] = ['a', 'b', 'plain'].map((name) => join(at.folder, name)) as [string, string, string];
    await line.exportTree(one, a);
    rmSync(join(a, 'README.md')); // gone there: written anew
    await line.exportTree(two, b, { commit: one, folder: a });
    await line.exportTree(two, plain);
    const files = readdirSync(plain, { recursive: true }) as string[];
    expect((readdirSync(b, { recursive: true }) as string[]).sort()).toEqual(files.sort());
    for (const file of files.filter((each) => lstatSync(join(plain, each)).isFile()))
      expect(readFileSync(join(b, file)).equals(readFileSync(join(plain, file))), file).toBe(true);
    const inode = (folder: string, file: string) => lstatSync(join(folder, file)).ino;
    expect(inode(b, 'site/machines/second/machine.css')).toBe(inode(a, 'site/machines/second/machine.css'));
    expect(inode(b, 'site/machines/second/index.html')).not.toBe(inode(a, 'site/machines/second/index.html'));
    expect(inode(b, 'link')).not.toBe(inode(a, 'link'));
  });
});
