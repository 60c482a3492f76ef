import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scope } from '../../src/gates/scope/scope.ts';
import type { Line } from '../../src/line/line.ts';
import { git, writeAll } from '../helpers/origin.ts';
import { type Bench, SHIFT, bench, build } from './helpers.ts';

let at: Bench;
let line: Line;
let base: string;
let trap: string;
const inherited = { ...process.env };

beforeEach(async () => {
  at = bench();
  line = await at.open();
  base = await line.fetch();
  await line.newBranch(SHIFT, base);
  build(at.checkout, 'second', 'first');
  trap = join(at.folder, 'trap');
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in inherited)) delete process.env[name];
  Object.assign(process.env, inherited);
  at.remove();
});

/** A program that leaves a mark when it is run, whatever it is run as. */
function program(): string {
  const path = join(at.folder, 'planted');
  writeFileSync(path, `#!/bin/sh\necho "$0 $*" >> ${trap}\ncat\n`);
  chmodSync(path, 0o755);
  return path;
}

const dotGit = () => join(at.checkout, '.git');
const configure = (text: string) => writeFileSync(join(dotGit(), 'config'), text, { flag: 'a' });

/** The rest of the shift after the agent: snapshot, push, build, publish, and all the gates read. */
async function finish(): Promise<string> {
  const { commit } = await line.snapshot({ shift: SHIFT });
  await line.push();
  await line.exportTree(commit, join(at.folder, 'export'));
  await scope({ line, base, work: commit });
  const built = await line.buildLanding(base, commit, {
    subject: 'shift: a - b',
    body: '',
    shift: SHIFT,
    session: null,
  });
  expect(await line.publish(built.commit, base)).toBe('landed');
  await line.newBranch('20260102-040506', await line.fetch());
  return commit;
}

describe('what an agent plants in its checkout is never run', () => {
  const attacks: [string, () => void][] = [
    [
      'hooks',
      () => {
        for (const hook of [
          'pre-commit',
          'post-commit',
          'post-checkout',
          'reference-transaction',
          'pre-push',
          'post-index-change',
          'update',
          'post-update',
        ]) {
          mkdirSync(join(dotGit(), 'hooks'), { recursive: true });
          writeFileSync(join(dotGit(), 'hooks', hook), readFileSync(program()));
          chmodSync(join(dotGit(), 'hooks', hook), 0o755);
        }
      },
    ],
    ['a hooks path', () => configure(`[core]\n\thooksPath = ${at.checkout}\n`)],
    [
      'a filter with attributes',
      () => {
        configure(
          `[filter "x"]\n\tclean = ${program()}\n\tsmudge = ${program()}\n\tprocess = ${program()}\n\trequired = true\n`,
        );
        writeAll(at.checkout, {
          '.gitattributes': '* filter=x diff=x merge=x\n',
          '.git/info/attributes': '* filter=x\n',
        });
      },
    ],
    ['a monitor of the file system', () => configure(`[core]\n\tfsmonitor = ${program()}\n`)],
    [
      'a pager, an editor, an ssh command, an askpass',
      () =>
        configure(
          `[core]\n\tpager = ${program()}\n\teditor = ${program()}\n\tsshCommand = ${program()}\n\taskPass = ${program()}\n\tgitProxy = ${program()}\n`,
        ),
    ],
    ['a credential helper', () => configure(`[credential]\n\thelper = !${program()}\n`)],
    [
      'aliases and external diffs',
      () =>
        configure(
          `[alias]\n\tlog = !${program()}\n[diff]\n\texternal = ${program()}\n[gpg]\n\tprogram = ${program()}\n[commit]\n\tgpgSign = true\n`,
        ),
    ],
    [
      'an include',
      () => {
        writeFileSync(join(at.checkout, 'evil'), `[core]\n\tfsmonitor = ${program()}\n`);
        configure(`[include]\n\tpath = ${at.checkout}/evil\n[includeIf "gitdir:**"]\n\tpath = ${at.checkout}/evil\n`);
      },
    ],
    [
      'other addresses for the origin',
      () =>
        configure(`[url "ext::${program()} "]\n\tinsteadOf = ${at.origin.path}\n\tpushInsteadOf = ${at.origin.path}\n`),
    ],
    [
      'submodules that fetch by a command',
      () => {
        writeAll(at.checkout, {
          '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::${program()}\n\tupdate = !${program()}\n`,
        });
        configure(`[submodule "x"]\n\turl = ext::${program()}\n\tupdate = !${program()}\n\tactive = true\n`);
      },
    ],
  ];
  it.each(attacks)('%s', async (_name, plant) => {
    plant();
    program();
    await finish();
    expect(existsSync(trap)).toBe(false);
  });

  it('can be seen to bite when git is run unprotected, so the tests above can fail', () => {
    configure(`[core]\n\tfsmonitor = ${program()}\n`);
    git(at.checkout, 'status');
    expect(existsSync(trap)).toBe(true);
  });
});

describe("what stands around the factory's git is not obeyed", () => {
  it('neither the configuration of the user nor variables of git', async () => {
    const config = join(at.folder, 'user-config');
    writeFileSync(
      config,
      `[core]\n\tfsmonitor = ${program()}\n\thooksPath = ${at.folder}\n[url "file:///nowhere/"]\n\tinsteadOf = ${at.folder}\n`,
    );
    process.env.GIT_CONFIG_GLOBAL = config;
    process.env.GIT_DIR = join(at.folder, 'elsewhere');
    process.env.GIT_INDEX_FILE = join(at.folder, 'index');
    process.env.GIT_EXTERNAL_DIFF = program();
    process.env.GIT_SSH_COMMAND = program();
    process.env.GIT_CONFIG_COUNT = '1';
    process.env.GIT_CONFIG_KEY_0 = 'core.fsmonitor';
    process.env.GIT_CONFIG_VALUE_0 = program();
    process.env.PAGER = program();
    try {
      await finish();
    } finally {
      for (const name of [
        'GIT_DIR',
        'GIT_INDEX_FILE',
        'GIT_EXTERNAL_DIFF',
        'GIT_SSH_COMMAND',
        'GIT_CONFIG_COUNT',
        'GIT_CONFIG_KEY_0',
        'GIT_CONFIG_VALUE_0',
        'PAGER',
      ])
        delete process.env[name];
      process.env.GIT_CONFIG_GLOBAL = inherited.GIT_CONFIG_GLOBAL;
    }
    expect(existsSync(trap)).toBe(false);
  });

  it('nor an origin that is a command', async () => {
    const other = await at.open({ origin: `ext::${program()} x` });
    await expect(other.fetch()).rejects.toMatchObject({ code: 'origin/unreachable' });
    expect(existsSync(trap)).toBe(false);
  });
});

describe("the checkout's own .git is never read", () => {
  const disguises: [string, () => void][] = [
    [
      'a file that points at the git dir of the line',
      () => {
        rmSync(dotGit(), { recursive: true });
        writeFileSync(dotGit(), `gitdir: ${at.gitDir}\n`);
      },
    ],
    [
      'a link to the git dir of the line',
      () => {
        rmSync(dotGit(), { recursive: true });
        symlinkSync(at.gitDir, dotGit());
      },
    ],
    [
      'objects borrowed from elsewhere',
      () => writeAll(at.checkout, { '.git/objects/info/alternates': `${at.origin.path}/objects\n` }),
    ],
    ['nothing at all', () => rmSync(dotGit(), { recursive: true })],
    ['garbage', () => writeFileSync(join(dotGit(), 'HEAD'), 'garbage')],
  ];
  it.each(disguises)('when it is %s', async (_name, disguise) => {
    const before = readFileSync(join(at.gitDir, 'config'), 'utf8');
    disguise();
    const commit = await finish();
    expect(git(at.gitDir, 'ls-tree', '-r', '--name-only', commit)).not.toMatch(/\.git\//);
    expect(readFileSync(join(at.gitDir, 'config'), 'utf8')).toBe(before);
    expect(existsSync(join(at.gitDir, 'objects'))).toBe(true);
  });

  it.each(['.GIT', '.Git', 'git~1', '.git ', '.git.', '.git::$INDEX_ALLOCATION', '.g\u200cit', 'a\\.git'])(
    'nor does a folder called %j reach the origin',
    async (name) => {
      writeAll(at.checkout, { [`site/machines/second/${name}/config`]: '[core]\n' });
      git(at.origin.path, 'config', 'receive.fsckObjects', 'true');
      const { commit, leftOut } = await line.snapshot({ shift: SHIFT });
      await line.push();
      expect(at.origin.tip(`shift/${SHIFT}`)).toBe(commit);
      expect(leftOut).toHaveLength(1);
      expect(leftOut[0]).toMatch(/a nested repository/);
    },
  );

  it('and a list of submodules that the origin would refuse stays behind', async () => {
    writeAll(at.checkout, { '.gitmodules': '[submodule "x"]\n\turl = --upload-pack=evil\n\tpath = x\n' });
    git(at.origin.path, 'config', 'receive.fsckObjects', 'true');
    const { leftOut } = await line.snapshot({ shift: SHIFT });
    await line.push();
    expect(leftOut).toEqual(['.gitmodules (a list of submodules)']);
  });
});

describe('links are kept as links and never followed', () => {
  it('out of the checkout, in a file or a folder', async () => {
    const outside = join(at.folder, 'outside');
    writeAll(outside, { secret: 'do not read me' });
    symlinkSync(join(outside, 'secret'), join(at.checkout, 'site/machines/second/link'));
    symlinkSync(outside, join(at.checkout, 'site/machines/second/folder'));
    symlinkSync('first', join(at.checkout, 'site/machines/alias'));
    const { commit } = await line.snapshot({ shift: SHIFT });
    const listing = git(at.gitDir, 'ls-tree', '-r', commit);
    expect(
      listing
        .split('\n')
        .filter((row) => row.startsWith('120000'))
        .map((row) => row.split('\t')[1]),
    ).toEqual(['site/machines/alias', 'site/machines/second/folder', 'site/machines/second/link']);
    const exported = join(at.folder, 'export');
    await line.exportTree(commit, exported);
    expect(existsSync(join(exported, 'site/machines/second/link'))).toBe(false);
    expect(existsSync(join(exported, 'site/machines/second/folder/secret'))).toBe(false);
    expect(readFileSync(join(exported, 'site/machines/alias/index.html'), 'utf8')).toBe('index.html of first\n');
  });

  it('when a checkout is removed', async () => {
    const outside = join(at.folder, 'outside');
    writeAll(outside, { keep: 'me' });
    symlinkSync(outside, join(at.checkout, 'link'));
    mkdirSync(join(at.checkout, 'closed/deeper'), { recursive: true });
    chmodSync(join(at.checkout, 'closed'), 0);
    await line.newBranch('20260102-040506', base);
    expect(readFileSync(join(outside, 'keep'), 'utf8')).toBe('me');
    expect(existsSync(join(at.checkout, 'closed'))).toBe(false);
  });

  it('when the checkout itself was replaced by one', async () => {
    renameSync(at.checkout, join(at.folder, 'moved'));
    symlinkSync(join(at.folder, 'moved'), at.checkout);
    await expect(line.snapshot({ shift: SHIFT })).rejects.toMatchObject({ code: 'line/checkout' });
    await line.newBranch('20260102-040506', base);
    expect(existsSync(join(at.folder, 'moved/site/machines/second'))).toBe(true);
  });
});
