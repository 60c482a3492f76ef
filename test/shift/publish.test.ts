import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { publishLanding, publishSite } from '../../src/shift/publish.ts';
import type { Context } from '../../src/shift/station.ts';
import { temporaryFolder, writeAll } from '../helpers/origin.ts';

let folder: string;
let remove: () => void;
let site: string;
let out: string;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
  site = join(folder, 'site');
  out = join(folder, 'www', 'machinery');
  writeAll(site, { 'machines.json': '[]\n', 'index.html': 'first' });
});
afterEach(() => remove());

describe('publishing a site', () => {
  it('makes the folder a copy, and replaces it whole, leaving nothing of the one before', async () => {
    expect((await publishSite({ site, out })).ok).toBe(true);
    expect(readFileSync(join(out, 'index.html'), 'utf8')).toBe('first');
    writeAll(site, { 'index.html': 'second', 'shelf/page.js': '' });
    await publishSite({ site, out });
    expect(readFileSync(join(out, 'index.html'), 'utf8')).toBe('second');
    expect(existsSync(join(out, 'shelf', 'page.js'))).toBe(true);
    expect(readdirSync(join(folder, 'www'))).toHaveLength(2);
  });

  it('publishes nothing when check finds an error, and leaves what was there', async () => {
    await publishSite({ site, out });
    writeAll(site, { 'machines.json': '{', 'index.html': 'broken' });
    expect((await publishSite({ site, out })).ok).toBe(false);
    expect(readFileSync(join(out, 'index.html'), 'utf8')).toBe('first');
    expect(readdirSync(join(folder, 'www'))).toHaveLength(2);
  });

  it("refuses a folder that holds somebody else's files, and a link that is not its own", async () => {
    writeAll(out, { 'theirs.html': '' });
    await expect(publishSite({ site, out })).rejects.toMatchObject({ code: 'publish/not-ours' });
    const link = join(folder, 'link');
    symlinkSync(out, link);
    await expect(publishSite({ site, out: link })).rejects.toMatchObject({ code: 'publish/not-ours' });
    expect(existsSync(join(out, 'theirs.html'))).toBe(true);
  });

  it('makes way for itself where a folder is empty, and publishes no link', async () => {
    mkdirSync(out, { recursive: true });
    writeFileSync(join(folder, 'secret'), '');
    symlinkSync(join(folder, 'secret'), join(site, 'leak.txt'));
    await publishSite({ site, out });
    expect(lstatSync(out).isSymbolicLink()).toBe(true);
    expect(existsSync(join(out, 'leak.txt'))).toBe(false);
  });
});

describe('a publication that is killed', () => {
  /** Publishes in a process of its own, which dies at a moment: once a file of that name is there. */
  async function killedAt(found: (names: string[]) => boolean): Promise<void> {
    const call = `import { publishSite } from ${JSON.stringify(resolve('dist/shift/publish.js'))}; await publishSite(${JSON.stringify({ site, out })});`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', call], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const www = join(folder, 'www');
    while (child.exitCode === null && !found(existsSync(www) ? readdirSync(www) : [])) await setImmediate();
    child.kill('SIGKILL');
    await ended;
  }
  const left = () => readdirSync(join(folder, 'www')).filter((name) => /^\.machinery\.[0-9a-f]{12}$/.test(name));

  it('leaves the site before in its place, and what it left goes with a later one', async () => {
    await publishSite({ site, out });
    const big = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`shelf/${n}.css`, 'a{}'.repeat(1000)]));
    writeAll(site, { 'index.html': 'second', ...big });
    await killedAt((names) => names.filter((name) => name.startsWith('.machinery.')).length > 1);
    expect(readFileSync(join(out, 'index.html'), 'utf8')).toBe('first');
    expect(left()).toHaveLength(2);
    // It may be another publication at work: only what is old is taken for left over.
    await publishSite({ site, out });
    expect(readFileSync(join(out, 'index.html'), 'utf8')).toBe('second');
    expect(left()).toHaveLength(2);
    const hourAgo = Date.now() / 1000 - 3700;
    for (const name of left()) utimesSync(join(folder, 'www', name), hourAgo, hourAgo);
    await publishSite({ site, out });
    expect(left()).toHaveLength(1);
    expect(existsSync(join(out, 'shelf', '399.css'))).toBe(true);
  });
});

describe('publish.command', () => {
  async function landed(command: string | undefined, files: Record<string, string> = {}): Promise<string | null> {
    writeAll(folder, { 'factory.yaml': '' });
    const env = { MACHINERY_DATA: join(folder, 'data') };
    const config = await loadConfig({ cwd: folder, env, flags: { 'publish.command': command } });
    const tree = { 'site/machines.json': '[]\n', 'site/index.html': 'landed', ...files };
    const line = { exportTree: async (_: string, to: string) => writeAll(to, tree) };
    const { signal } = new AbortController();
    const log = pino({ level: 'silent' });
    const context = { config, id: '20260504-120000', facts: { commit: 'c', line }, log, signal };
    return publishLanding(context as unknown as Context);
  }

  it('runs in a copy of the landed site, without the secrets of the factory', async () => {
    process.env.HF_TOKEN = 'hf_secret';
    try {
      expect(await landed(`cat index.html > ${folder}/seen; env >> ${folder}/seen`)).toBe('published');
    } finally {
      delete process.env.HF_TOKEN;
    }
    const seen = readFileSync(join(folder, 'seen'), 'utf8');
    expect(seen).toMatch(/^landed/);
    expect(seen).not.toContain('hf_secret');
    expect(seen).toContain('PATH=');
  });

  it('is told when it fails, and is not run on a site that check refuses or when it is not set', async () => {
    expect(await landed('exit 3')).toBe('not published: the command ended with 3');
    const broken = { 'site/machines.json': '{' };
    expect(await landed(`touch ${folder}/ran`, broken)).toBe('not published: check found errors');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(await landed(undefined)).toBeNull();
  });
});
