import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Line } from '../../src/line/line.ts';
import { git, writeAll } from '../helpers/origin.ts';
import { type Bench, SESSION, SHIFT, bench } from './helpers.ts';

let at: Bench;
let line: Line;
beforeEach(async () => {
  at = bench();
  line = await at.open();
  await line.newBranch(SHIFT, await line.fetch());
});
afterEach(() => at.remove());

const files = (commit: string) =>
  git(at.gitDir, '-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', commit).split('\n');

it('holds every file as it is: ignored ones, odd names, binary content, executable bits', async () => {
  const binary = Buffer.from(Array.from({ length: 256 }, (_each, index) => index));
  writeAll(at.checkout, {
    'debug.log': 'ignored by main, held all the same',
    'ünï cödé "quoted"\n\ttab': 'odd',
    'back\\slash': 'x',
    'site/machines/second/data.bin': binary,
    'crlf.txt': 'a\r\nb\r\n',
    '.gitattributes': '* text=auto eol=lf ident\n',
    run: '#!/bin/sh\n# $Id$\n',
  });
  chmodSync(join(at.checkout, 'run'), 0o755);
  const { commit, leftOut } = await line.snapshot({ shift: SHIFT });
  expect(leftOut).toEqual([]);
  expect(await line.read(commit, 'site/machines/second/data.bin')).toEqual(binary);
  expect((await line.read(commit, 'crlf.txt'))?.toString()).toBe('a\r\nb\r\n');
  const tree = await line.filesOf(commit);
  expect(tree.get('run')?.mode).toBe('100755');
  expect([...tree.keys()].map((path) => Buffer.from(path, 'latin1').toString())).toEqual(
    expect.arrayContaining(['debug.log', 'ünï cödé "quoted"\n\ttab', 'back\\slash']),
  );
  expect(git(at.gitDir, 'fsck', '--strict')).toBe('');
});

it('holds a file whose name is no text, and writes it back', async () => {
  const name = Buffer.from([0x66, 0xff, 0xfe, 0x67]);
  writeFileSync(Buffer.concat([Buffer.from(`${at.checkout}/`), name]), 'x');
  const first = await line.snapshot({ shift: SHIFT });
  expect((await line.filesOf(first.commit)).has(name.toString('latin1'))).toBe(true);
  await line.exportTree(first.commit, join(at.folder, 'export'));
  expect(execFileSync('ls', [join(at.folder, 'export')]).includes(name)).toBe(true);
});

it('leaves out pipes, sockets and unreadable files and says so, .machinery/ and .git without a word', async () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(at.checkout, 'pipe')]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(at.checkout, 'socket'), resolve));
  writeAll(at.checkout, { '.machinery/findings.md': 'x', 'node_modules/x/index.js': 'x', ok: 'x' });
  const { commit, leftOut } = await line.snapshot({ shift: SHIFT });
  server.close();
  expect(leftOut).toEqual(['pipe (a pipe)', 'socket (a socket)']);
  expect(files(commit)).toContain('ok');
  expect(files(commit).join('\n')).not.toMatch(/pipe|socket|machinery\/findings|node_modules/);
  expect(await line.leftOut(commit)).toEqual(leftOut);
});

it("leaves out a new file that is huge, and one with a second name, which may be somebody else's", async () => {
  writeAll(at.folder, { private: 'not for the agent' });
  linkSync(join(at.folder, 'private'), join(at.checkout, 'mine'));
  writeFileSync(join(at.checkout, 'huge'), '');
  truncateSync(join(at.checkout, 'huge'), 10 ** 12);
  const { commit, leftOut } = await line.snapshot({ shift: SHIFT });
  expect(leftOut).toEqual(['huge (larger than 10 MB)', 'mine (a hard link)']);
  expect(files(commit).join('\n')).not.toMatch(/huge|mine/);
});

it("holds a nested repository's files as plain files", async () => {
  const nested = join(at.checkout, 'site/machines/second');
  writeAll(nested, { 'index.html': 'x' });
  git(nested, 'init', '-q');
  git(nested, 'add', '-A');
  git(nested, 'commit', '-q', '-m', 'nested');
  const { commit, leftOut } = await line.snapshot({ shift: SHIFT });
  expect((await line.filesOf(commit)).get('site/machines/second/index.html')?.mode).toBe('100644');
  expect(leftOut).toEqual(['site/machines/second/.git (a nested repository)']);
});

it('refuses a checkout that has grown out of all bounds, names what is large, and keeps the last snapshot', async () => {
  writeAll(at.checkout, { 'site/machines/second/index.html': 'x' });
  const { commit } = await line.snapshot({ shift: SHIFT });
  mkdirSync(join(at.checkout, 'dump'));
  for (let n = 0; n < 12; n += 1) {
    writeFileSync(join(at.checkout, `dump/${n}`), '');
    truncateSync(join(at.checkout, `dump/${n}`), 9_000_000);
  }
  await expect(line.snapshot({ shift: SHIFT })).rejects.toMatchObject({
    code: 'line/too-large',
    message: expect.stringContaining('dump/'),
  });
  expect((await line.current())?.tip).toBe(commit);
});

it('carries the trailers that the next shift reads', async () => {
  writeAll(at.checkout, { x: 'x' });
  const { commit } = await line.snapshot({ shift: SHIFT, session: SESSION, continued: 2 });
  expect(git(at.gitDir, 'log', '-1', '--format=%(trailers:only,unfold)', commit).trim().split('\n')).toEqual([
    'Factory: factory-one',
    `Shift: ${SHIFT}`,
    `Session: ${SESSION}`,
    'Continued: 2',
  ]);
});

it('is refused when no branch is open', async () => {
  await line.push();
  await line.deleteBranch(`shift/${SHIFT}`);
  await expect(line.snapshot({ shift: SHIFT })).rejects.toMatchObject({ code: 'line/checkout' });
});

it('goes on after a restart, on the branch that was open', async () => {
  writeAll(at.checkout, { x: 'x' });
  const again = await at.open();
  const { commit, changed } = await again.snapshot({ shift: SHIFT });
  expect(changed).toBe(true);
  expect(await again.current()).toMatchObject({ branch: `shift/${SHIFT}`, tip: commit });
});
