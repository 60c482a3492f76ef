import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FactoryError } from '../../src/support/errors.ts';
import { type GitServer, gitServer } from '../helpers/git-server.ts';
import { type Bench, SHIFT, bench, build } from './helpers.ts';

const TOKEN = 'tok-5e1f00d5ecret';
const BASIC = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString('base64')}`;

let at: Bench;
let server: GitServer;
beforeEach(() => {
  at = bench();
});
afterEach(async () => {
  await server.close();
  at.remove();
});

async function failure(work: Promise<unknown>): Promise<FactoryError> {
  return work.then(
    () => {
      throw new Error('it should have failed');
    },
    (error: FactoryError) => error,
  );
}

/** The whole text of every file below a folder. */
function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

async function workOneShift(more: { origin: string; token?: string }): Promise<void> {
  const line = await at.open(more);
  const base = await line.fetch();
  await line.newBranch(SHIFT, base);
  build(at.checkout, 'second', 'first');
  const { commit } = await line.snapshot({ shift: SHIFT });
  await line.push();
  const built = await line.buildLanding(base, commit, {
    subject: 'shift: a - b',
    body: '',
    shift: SHIFT,
    session: null,
  });
  expect(await line.publish(built.commit, base)).toBe('landed');
  expect(at.origin.tip()).toBe(built.commit);
  await line.deleteBranch(`shift/${SHIFT}`);
  expect(at.origin.branches()).toEqual(['main']);
}

describe('an origin over HTTP', () => {
  it('is worked with a token, sent as the password of a basic login', async () => {
    server = await gitServer(at.folder, BASIC);
    await workOneShift({ origin: server.url('origin.git'), token: TOKEN });
    expect(new Set(server.seen)).toEqual(new Set([BASIC]));
  });

  it('is worked with a bearer token where the token says so', async () => {
    server = await gitServer(at.folder, `Bearer ${TOKEN}`);
    await workOneShift({ origin: server.url('origin.git'), token: `Bearer ${TOKEN}` });
  });

  it('is worked with a credential that was written into the address, which is taken out of it', async () => {
    server = await gitServer(at.folder, `Basic ${Buffer.from(`me:${TOKEN}`).toString('base64')}`);
    const origin = server.url('origin.git').replace('//', `//me:${TOKEN}@`);
    await workOneShift({ origin });
    expect((await at.open({ origin })).origin).toBe(server.url('origin.git'));
  });

  it('leaves the token in no file, no argument and no error', async () => {
    server = await gitServer(at.folder, BASIC);
    const line = await at.open({ origin: server.url('origin.git'), token: TOKEN });
    server.hang(true);
    const fetching = line.fetch().catch(() => {});
    await waitUntil(() => server.seen.length > 0);
    const own = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && ancestors(pid).includes(String(process.pid)));
    const lines = own.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    expect(lines.some((each) => each.includes('fetch'))).toBe(true);
    expect(lines.join('\n')).not.toContain(TOKEN);
    expect(lines.join('\n')).not.toContain(BASIC.slice(6));
    server.hang(false);
    await server.close();
    await fetching;
    expect(everything(join(at.folder, 'data'))).not.toContain(TOKEN);
    expect(everything(join(at.folder, 'data'))).not.toContain(BASIC.slice(6));
  });

  it.each([
    ['without a token', undefined],
    ['with a wrong token', 'tok-wr0ngwr0ng'],
  ])('says origin/auth %s, and not the token', async (_name, token) => {
    server = await gitServer(at.folder, BASIC);
    const line = await at.open({ origin: server.url('origin.git'), ...(token === undefined ? {} : { token }) });
    const error = await failure(line.fetch());
    expect(error.code).toBe('origin/auth');
    expect(error.mend).toMatch(/token/);
    if (token !== undefined)
      expect(JSON.stringify([error.message, error.mend, error.data, error.stack])).not.toContain(token);
  });

  it('says origin/auth when it may read but not push', async () => {
    server = await gitServer(at.folder);
    const line = await at.open({ origin: server.url('origin.git') });
    await line.newBranch(SHIFT, await line.fetch());
    writeFileSync(join(at.checkout, 'x'), 'x');
    await line.snapshot({ shift: SHIFT });
    server.fail(403);
    expect((await failure(line.push())).code).toBe('origin/auth');
  });

  it('says origin/unreachable for a server error, keeps the work, and pushes it when the server is back', async () => {
    server = await gitServer(at.folder);
    const line = await at.open({ origin: server.url('origin.git') });
    const base = await line.fetch();
    await line.newBranch(SHIFT, base);
    build(at.checkout, 'second', 'first');
    const { commit } = await line.snapshot({ shift: SHIFT });
    server.fail(503);
    expect((await failure(line.push())).code).toBe('origin/unreachable');
    const built = await line.buildLanding(base, commit, {
      subject: 'shift: a - b',
      body: '',
      shift: SHIFT,
      session: null,
    });
    expect((await failure(line.publish(built.commit, base))).code).toBe('origin/unreachable');
    server.fail(null);
    await line.push();
    expect(at.origin.tip(`shift/${SHIFT}`)).toBe(commit);
  });

  it('ends a call that is silent for too long', async () => {
    server = await gitServer(at.folder);
    server.hang(true);
    const line = await at.open({ origin: server.url('origin.git'), silenceMs: 300 });
    const error = await failure(line.fetch());
    expect(error).toMatchObject({ code: 'origin/unreachable', data: { silent: true } });
  });

  it('ends a hanging call at once when it is told to stop', async () => {
    server = await gitServer(at.folder);
    server.hang(true);
    const stop = new AbortController();
    const line = await at.open({ origin: server.url('origin.git'), signal: stop.signal });
    const fetching = failure(line.fetch());
    await waitUntil(() => server.seen.length > 0);
    stop.abort();
    expect((await fetching).code).toBe('line/stopped');
  });
});

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function ancestors(pid: string): string[] {
  const found: string[] = [];
  for (let at = pid; at !== '0' && at !== ''; ) {
    try {
      at = /\) \S (\d+)/.exec(readFileSync(`/proc/${at}/stat`, 'latin1'))?.[1] ?? '';
    } catch {
      return found;
    }
    found.push(at);
  }
  return found;
}
