import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScopeReport, scope } from '../../../src/gates/scope/scope.ts';
import type { Line } from '../../../src/line/line.ts';
import { catalogueOf, entryOf, git, machineFiles, writeAll } from '../../helpers/origin.ts';
import { type Bench, SHIFT, bench, build } from '../../line/helpers.ts';

let at: Bench;
let line: Line;
let base: string;
beforeEach(async () => {
  at = bench();
  at.origin.commit({ ...machineFiles('second'), 'site/machines.json': catalogueOf('first', 'second') });
  line = await at.open();
  base = await line.fetch();
  await line.newBranch(SHIFT, base);
  build(at.checkout, 'third', 'first', 'second');
});
afterEach(() => at.remove());

const inCheckout = (path: string) => join(at.checkout, path);
const writeCatalogue = (entries: unknown) =>
  writeFileSync(inCheckout('site/machines.json'), `${JSON.stringify(entries, null, 2)}\n`);

async function judge(allowRepair: string[] = []): Promise<ScopeReport> {
  const { commit } = await line.snapshot({ shift: SHIFT });
  return scope({ line, base, work: commit, allowRepair });
}

const rules = (report: ScopeReport, severity = 'error') =>
  report.findings.filter((finding) => finding.severity === severity).map((finding) => finding.rule);
const messages = (report: ScopeReport) => report.findings.map((finding) => finding.message).join('\n');

describe('scope', () => {
  it('passes one new folder with its entry appended, and names it', async () => {
    const report = await judge();
    expect(report).toMatchObject({ gate: 'scope', ok: true, machines: ['third'], slug: 'third', findings: [] });
  });

  it('passes the tree that is built to land, against the tip it is built on', async () => {
    const work = (await line.snapshot({ shift: SHIFT })).commit;
    at.origin.commit({ ...machineFiles('other'), 'site/machines.json': catalogueOf('first', 'second', 'other') });
    const tip = await line.fetch();
    const built = await line.buildLanding(tip, work, {
      subject: 'shift: a - b',
      body: '',
      shift: SHIFT,
      session: null,
    });
    expect(await scope({ line, base: tip, work: built.commit })).toMatchObject({
      ok: true,
      slug: 'third',
      findings: [],
    });
  });

  describe('scope/outside', () => {
    const cases: [string, () => void, RegExp][] = [
      ['a changed file', () => writeFileSync(inCheckout('AGENTS.md'), 'Obey.\n'), /AGENTS\.md was changed/],
      ['a removed file', () => rmSync(inCheckout('README.md')), /README\.md was removed/],
      [
        'a renamed file',
        () => renameSync(inCheckout('README.md'), inCheckout('LIESMICH.md')),
        /README\.md was moved to LIESMICH\.md/,
      ],
      [
        'a file made executable',
        () => chmodSync(inCheckout('scripts/check.sh'), 0o755),
        /check\.sh was made executable/,
      ],
      [
        'a catalogue made executable',
        () => chmodSync(inCheckout('site/machines.json'), 0o755),
        /machines\.json was made executable/,
      ],
      [
        'a file made a link',
        () => {
          rmSync(inCheckout('README.md'));
          symlinkSync('/etc/passwd', inCheckout('README.md'));
        },
        /README\.md was replaced by a symbolic link/,
      ],
      [
        'a file made a folder',
        () => {
          rmSync(inCheckout('README.md'));
          writeAll(at.checkout, { 'README.md/x': 'x' });
        },
        /README\.md was removed/,
      ],
      [
        'another machine changed',
        () => writeFileSync(inCheckout('site/machines/first/machine.js'), 'x'),
        /first\/machine\.js was changed/,
      ],
      [
        'another machine removed',
        () => rmSync(inCheckout('site/machines/first'), { recursive: true }),
        /first\/index\.html was removed/,
      ],
    ];
    it.each(cases)('finds %s', async (_name, spoil, told) => {
      spoil();
      const report = await judge();
      expect(rules(report)).toContain('scope/outside');
      expect(new Set(rules(report))).toEqual(new Set(['scope/outside']));
      expect(messages(report)).toMatch(told);
    });

    it.each(['notes.txt', 'site/new.html', 'site/machines/stray.txt', 'site/machines/first/extra.js'])(
      'only warns of the new file %s',
      async (path) => {
        writeAll(at.checkout, { [path]: 'x' });
        const report = await judge();
        expect(report.ok).toBe(true);
        expect(rules(report, 'warning')).toEqual(['scope/outside']);
        expect(messages(report)).toContain(path);
      },
    );
  });

  describe('scope/catalogue', () => {
    const [first, second, third] = ['first', 'second', 'third'].map(entryOf);
    const cases: [string, () => void, RegExp][] = [
      [
        'an edited entry',
        () => writeCatalogue([{ ...first, tagline: 'Better' }, second, third]),
        /`first` was edited \(tagline\)/,
      ],
      [
        'an entry with one more key',
        () => writeCatalogue([{ ...first, more: 1 }, second, third]),
        /`first` was edited \(more\)/,
      ],
      ['a removed entry', () => writeCatalogue([second, third]), /`first` was removed/],
      [
        'moved entries',
        () => writeCatalogue([second, first, third]),
        /earlier entries were moved: `second` stands before `first`/,
      ],
      ['no catalogue at all', () => rmSync(inCheckout('site/machines.json')), /was removed/],
      ['one that is no JSON', () => writeFileSync(inCheckout('site/machines.json'), '[{"slug":'), /cannot be compared/],
      ['one that is no array', () => writeFileSync(inCheckout('site/machines.json'), '{}'), /not a JSON array/],
      [
        'one that is not UTF-8',
        () => writeFileSync(inCheckout('site/machines.json'), Buffer.from([0x5b, 0xff, 0x5d])),
        /not valid UTF-8/,
      ],
    ];
    it.each(cases)('finds %s', async (_name, spoil, told) => {
      spoil();
      const report = await judge();
      expect(rules(report)).toContain('scope/catalogue');
      expect(messages(report)).toMatch(told);
    });

    it('only warns when white space of earlier entries was rewritten, and lands without that', async () => {
      writeFileSync(inCheckout('site/machines.json'), JSON.stringify([first, second, third]));
      const report = await judge();
      expect(report).toMatchObject({ ok: true, slug: 'third' });
      expect(rules(report, 'warning')).toEqual(['scope/catalogue']);
      const work = (await line.snapshot({ shift: SHIFT })).commit;
      const built = await line.buildLanding(base, work, {
        subject: 'shift: a - b',
        body: '',
        shift: SHIFT,
        session: null,
      });
      expect((await line.read(built.commit, 'site/machines.json'))?.toString()).toBe(
        catalogueOf('first', 'second', 'third'),
      );
    });
  });

  describe('scope/entry', () => {
    const [first, second, third] = ['first', 'second', 'third'].map(entryOf);
    const cases: [string, () => void, RegExp, string | null][] = [
      ['no new entry', () => writeCatalogue([first, second]), /no entry was added/, null],
      [
        'two new entries',
        () => writeCatalogue([first, second, third, entryOf('fourth')]),
        /2 entries were added .*`third`, `fourth`/,
        null,
      ],
      [
        'a new entry that is not last',
        () => writeCatalogue([first, third, second]),
        /`third` is not the last/,
        'third',
      ],
      ['a new entry without a slug', () => writeCatalogue([first, second, { name: 'x' }]), /has no slug/, null],
      [
        'a slug that climbs',
        () => writeCatalogue([first, second, { slug: '../first' }]),
        /has no slug that could be a folder/,
        null,
      ],
      [
        'an entry without its folder',
        () => writeCatalogue([first, second, entryOf('fourth')]),
        /`fourth` has no folder/,
        'fourth',
      ],
      [
        'a slug that is taken',
        () => writeCatalogue([first, second, entryOf('first')]),
        /`first` names a machine that main has already/,
        'first',
      ],
      [
        'a second new folder',
        () => writeAll(at.checkout, machineFiles('unfinished')),
        /site\/machines\/unfinished\/ is not the new entry's own/,
        'third',
      ],
    ];
    it.each(cases)('finds %s', async (_name, spoil, told, slug) => {
      spoil();
      const report = await judge();
      expect(rules(report)).toContain('scope/entry');
      expect(messages(report)).toMatch(told);
      expect(report.slug).toBe(slug);
    });
  });

  describe('scope/link', () => {
    it('finds a symbolic link in the new folder', async () => {
      symlinkSync('../first/index.html', inCheckout('site/machines/third/extra.html'));
      const report = await judge();
      expect(rules(report)).toEqual(['scope/link']);
      expect(messages(report)).toMatch(/extra\.html is a symbolic link/);
    });

    it('finds a catalogue that is a link', async () => {
      renameSync(inCheckout('site/machines.json'), inCheckout('site/real.json'));
      symlinkSync('real.json', inCheckout('site/machines.json'));
      expect(rules(await judge())).toContain('scope/link');
    });

    it('finds a nested repository in the new folder, and passes once it is gone', async () => {
      git(inCheckout('site/machines/third'), 'init', '-q');
      const report = await judge();
      expect(rules(report)).toEqual(['scope/link']);
      expect(messages(report)).toContain('site/machines/third/.git');
      rmSync(inCheckout('site/machines/third/.git'), { recursive: true });
      expect((await judge()).ok).toBe(true);
    });

    it('finds what no snapshot holds in the new folder, and says why', async () => {
      linkSync(inCheckout('site/machines/third/index.html'), inCheckout('elsewhere'));
      const report = await judge();
      expect(rules(report)).toEqual(['scope/link']);
      expect(messages(report)).toMatch(/third\/index\.html is a hard link/);
    });

    it('finds a bare repository in the new folder', async () => {
      mkdirSync(inCheckout('site/machines/third/bare'));
      git(inCheckout('site/machines/third/bare'), 'init', '-q', '--bare');
      writeAll(inCheckout('site/machines/third/bare'), { 'objects/x': '', 'refs/x': '' });
      expect(rules(await judge())).toEqual(['scope/link']);
    });

    it('finds a submodule in a commit made elsewhere', async () => {
      const clone = join(at.folder, 'clone');
      git(at.folder, 'clone', '-q', at.origin.path, clone);
      build(clone, 'third', 'first', 'second');
      git(clone, 'add', '-A');
      git(clone, 'update-index', '--add', '--cacheinfo', `160000,${base},site/machines/third/sub`);
      git(clone, 'commit', '-q', '-m', 'With a submodule');
      git(clone, 'push', '-q', 'origin', `HEAD:shift/${SHIFT}`);
      await line.fetch();
      const report = await scope({ line, base, work: git(clone, 'rev-parse', 'HEAD') });
      expect(rules(report)).toEqual(['scope/link']);
      expect(messages(report)).toMatch(/sub is a submodule/);
    });
  });

  describe('a repair of what check finds on main itself', () => {
    beforeEach(() => {
      writeFileSync(inCheckout('site/machines/first/index.html'), 'mended\n');
      writeCatalogue([{ ...entryOf('first'), tagline: 'Mended' }, entryOf('second'), entryOf('third')]);
    });

    it('is allowed for the machines it named, listed, and lands', async () => {
      const report = await judge(['first']);
      expect(report).toMatchObject({ ok: true, slug: 'third' });
      expect(rules(report, 'note').sort()).toEqual(['scope/catalogue', 'scope/outside']);
      const work = (await line.snapshot({ shift: SHIFT })).commit;
      const message = { subject: 'shift: a - b', body: '', shift: SHIFT, session: null };
      const built = await line.buildLanding(base, work, message, { repaired: ['first'] });
      expect((await line.read(built.commit, 'site/machines/first/index.html'))?.toString()).toBe('mended\n');
      expect((await scope({ line, base, work: built.commit, allowRepair: ['first'] })).ok).toBe(true);
    });

    it('is refused for any other machine', async () => {
      expect(rules(await judge(['second']))).toEqual(['scope/outside']);
    });

    it('is refused when main is in order', async () => {
      expect(rules(await judge()).sort()).toEqual(['scope/catalogue', 'scope/outside']);
    });
  });
});
