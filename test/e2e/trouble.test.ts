import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { finishInterrupted } from '../../src/shift/finish.ts';
import { type ShiftRecord, failureOf } from '../../src/shift/record.ts';
import { workShift } from '../../src/shift/shift.ts';
import { goodMachine } from '../helpers/machine.ts';
import type { ChatRequest, Reply, Script } from '../helpers/provider.ts';
import { call, settle } from '../helpers/provider.ts';
import { KEY, type ScriptedFactory, building, makes, scriptedFactory } from '../helpers/scripted-shift.ts';

let factory: ScriptedFactory;
afterEach(() => factory.close());

const begin = async (script: Script, after?: Reply) => {
  factory = await scriptedFactory(script, after);
};
const failed = ({ stations }: ShiftRecord) => stations.findLast(({ status }) => status === 'failed');
const lastUser = (request: ChatRequest) =>
  JSON.stringify(request.body.messages.findLast(({ role }: { role: string }) => role === 'user').content);
const other = () =>
  goodMachine({
    slug: 'tide-clock',
    name: 'Tide Clock',
    kind: 'tide predictor',
    domain: 'marine',
    era: '1920s',
    design: 'a walnut case with silvered wheels and ink traces',
    interaction: 'set the harmonics',
    palette: ['#5a3b22', '#d8c9a0', '#b0202a'],
  });

describe('work that a gate failed', () => {
  const flawed: Reply = {
    calls: [
      ...building(),
      { name: 'write', arguments: { path: 'site/machines/ice-plant-compressor/notes.txt', content: 'x' } },
    ],
  };
  const mend: Reply = {
    calls: [{ name: 'shell', arguments: { command: 'rm site/machines/ice-plant-compressor/notes.txt' } }],
  };

  it('goes back to the agent with the findings, and lands once they are mended', async () => {
    let told = '';
    await begin([
      flawed,
      settle(),
      (request) => {
        told = lastUser(request);
        return mend;
      },
      settle('Mended.'),
    ]);
    const config = await factory.config();
    const record = await workShift({ config });
    expect(record).toMatchObject({ verdict: 'green', machine: 'ice-plant-compressor' });
    expect(told).toContain('files/set');
    expect(record.stations.filter(({ name }) => name === 'work').map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(record.chain).toHaveLength(2);
    expect(await factory.rows(config)).toEqual([record.session]);
  });

  it('and work that no snapshot can hold goes back too: the run counts, with its session', async () => {
    const ballast = 'mkdir dump && for n in 1 2 3 4 5 6 7 8 9 10 11 12; do truncate -s 9000000 dump/$n; done';
    let told = '';
    await begin([
      { calls: building() },
      { calls: [{ name: 'shell', arguments: { command: ballast } }] },
      settle(),
      (request) => {
        told = lastUser(request);
        return { calls: [{ name: 'shell', arguments: { command: 'rm -r dump' } }] };
      },
      settle('Cleared.'),
    ]);
    const record = await workShift({ config: await factory.config() });
    expect(told).toMatch(/more than 100 MB .*most is in dump/);
    expect(record.stations.find(({ status }) => status === 'failed')?.error?.code).toBe('line/too-large');
    expect(record).toMatchObject({ verdict: 'green', usage: { requests: 5 } });
    expect(record.chain).toHaveLength(2);
  });

  it('is red when rework does not help; the next shift continues it with the findings', async () => {
    await begin([flawed, settle()], settle('Still so.'));
    const config = await factory.config({ rework: 1 });
    const red = await workShift({ config });
    expect(red.verdict).toBe('red');
    expect(failed(red)).toMatchObject({ name: 'check', attempt: 2, error: { code: 'gate/check-failed' } });
    expect(factory.originGit('branch', '--list', 'shift/*').trim()).toBe(`shift/${red.id}`);

    factory.provider.requests.length = 0;
    const next = await workShift({ config });
    expect(next).toMatchObject({ branch: `shift/${red.id}`, continued: 1 });
    expect(lastUser(factory.provider.requests[0] as ChatRequest)).toContain('files/set');
    expect(next.chain.slice(0, 2)).toEqual(red.chain);
    expect(await factory.rows(config)).toEqual([red.session, next.session]);
  });

  it('stays known to every shift that goes on with it, also past one that ends before its gates', async () => {
    const gaveUp = call('failure', { reason: 'it is beyond me' });
    let told = '';
    await begin([
      flawed,
      settle(),
      gaveUp,
      gaveUp,
      (request) => {
        told = lastUser(request);
        return mend;
      },
      settle('Mended.'),
    ]);
    const config = await factory.config();
    const first = await workShift({ config });
    expect(first.reason).toMatch(/^work: .*beyond me.*; it was to mend what check found: .*files\/set/);
    expect(first.carried).toBeUndefined();
    expect(failureOf(first)?.error?.mend).toContain(`machinery rows show ${first.session}`);
    expect(await workShift({ config })).toMatchObject({ verdict: 'red', carried: first.id });
    const third = await workShift({ config });
    expect(told).toContain('files/set');
    expect(third).toMatchObject({ verdict: 'green', carried: first.id, continued: 2 });
  });

  it('moves to quarantine after as many continuations as are allowed, and the next shift begins afresh', async () => {
    await begin([flawed, settle()], settle('Still so.'));
    const config = await factory.config({ rework: 0, continuations: 1 });
    const first = await workShift({ config });
    expect(failureOf(first)?.error?.mend).not.toContain('no shift goes on with it');
    const second = await workShift({ config });
    expect(failureOf(second)?.error?.mend).toContain('no shift goes on with it');
    expect(factory.originGit('branch', '--list', 'shift/*', 'quarantine/*').trim()).toBe(`quarantine/${first.id}`);
    const third = await workShift({ config });
    expect(third).toMatchObject({ continued: 0, branch: `shift/${third.id}` });
  });
});

describe('an origin that moves', () => {
  it('under the agent, to a shelf with another machine: both are on it', async () => {
    const machine = other();
    await begin([
      () => {
        factory.commit({ ...prefixed(machine), 'site/machines.json': `${JSON.stringify([machine.entry], null, 2)}\n` });
        return { calls: building() };
      },
      settle(),
    ]);
    const record = await workShift({ config: await factory.config() });
    expect(record.verdict).toBe('green');
    const shelf = JSON.parse(factory.show('site/machines.json'));
    expect(shelf.map(({ slug }: { slug: string }) => slug)).toEqual(['tide-clock', 'ice-plant-compressor']);
  });

  it('and has taken the place meanwhile: the agent is told, and finds another', async () => {
    const taken = goodMachine({
      slug: 'first-come',
      name: 'First Come',
      kind: 'another kind',
      design: 'a plain steel box with one very large dial',
      interaction: 'turn it',
      palette: ['#102030', '#f0e0d0', '#ff0000'],
    });
    let told = '';
    await begin([
      () => {
        factory.commit({ ...prefixed(taken), 'site/machines.json': `${JSON.stringify([taken.entry], null, 2)}\n` });
        return { calls: building() };
      },
      settle(),
      (request) => {
        told = lastUser(request);
        const moved = goodMachine({ era: '1960s' });
        return { calls: building(moved) };
      },
      settle(),
    ]);
    const record = await workShift({ config: await factory.config() });
    expect(told).toContain('entry/unique-place');
    expect(record.verdict).toBe('green');
    expect(JSON.parse(factory.show('site/machines.json'))).toHaveLength(2);
  });

  it.each([
    [3, 'green'],
    [4, 'red'],
  ])('%i times while the shift lands: %s', async (times, verdict) => {
    await begin(makes());
    moveOnPush(factory.origin, times);
    const config = await factory.config();
    const record = await workShift({ config });
    expect(record.verdict).toBe(verdict);
    if (verdict === 'green') return;
    expect(failed(record)?.error?.code).toBe('line/moved');
    expect(await factory.rows(config)).toEqual([]); // a row is final, so it waits

    const next = await workShift({ config });
    expect(next).toMatchObject({ verdict: 'green', session: record.session, usage: { requests: 0 } });
    expect(await factory.rows(config)).toEqual([record.session]);
    expect(readRow(config.data, record.session as string).machinery).toMatchObject({
      committed: true,
      commit: next.commit,
    });
  });
});

describe('an origin in trouble', () => {
  it('that refuses the push keeps the work here; the next shift lands it without an agent', async () => {
    await begin(makes());
    const hook = join(factory.origin, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\necho "main is protected" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    const config = await factory.config();
    const red = await workShift({ config });
    expect(failed(red)?.error).toMatchObject({
      code: 'origin/refused',
      message: expect.stringContaining('main is protected'),
    });
    renameSync(hook, `${hook}.off`);
    const next = await workShift({ config });
    expect(next).toMatchObject({ verdict: 'green', branch: red.branch, session: red.session, usage: { requests: 0 } });
    expect(await factory.rows(config)).toEqual([red.session]);
  });

  it('that is not there starts no agent, and leaves nothing behind', async () => {
    await begin(makes());
    renameSync(factory.origin, `${factory.origin}.away`);
    const config = await factory.config();
    const red = await workShift({ config });
    expect(red).toMatchObject({ verdict: 'red', session: null });
    expect(failed(red)).toMatchObject({
      name: 'open',
      error: { code: 'origin/unreachable', mend: expect.stringMatching(/\w/) },
    });
    expect(factory.provider.requests).toEqual([]);
    renameSync(`${factory.origin}.away`, factory.origin);
    expect((await workShift({ config })).verdict).toBe('green');
  });

  it('that goes away while the agent works: the work lands once it is back', async () => {
    await begin([
      () => {
        renameSync(factory.origin, `${factory.origin}.away`);
        return { calls: building() };
      },
      settle(),
    ]);
    const config = await factory.config();
    const red = await workShift({ config });
    expect(failed(red)).toMatchObject({ name: 'land', error: { code: 'origin/unreachable' } });
    renameSync(`${factory.origin}.away`, factory.origin);
    expect(await workShift({ config })).toMatchObject({
      verdict: 'green',
      session: red.session,
      usage: { requests: 0 },
    });
    expect(factory.originGit('branch', '--list', 'shift/*')).toBe('');
  });

  it('that has not the branch is told with the branch', async () => {
    await begin(makes());
    const red = await workShift({ config: await factory.config({ branch: 'trunk' }) });
    expect(failed(red)?.error).toMatchObject({ code: 'origin/no-branch', message: expect.stringContaining('trunk') });
  });

  it('whose checked-out main is dirty is refused before anything is spent', async () => {
    await begin(makes());
    writeFileSync(join(factory.root, 'AGENTS.md'), 'half-written');
    const red = await workShift({ config: await factory.config({ origin: factory.root }) });
    expect(failed(red)).toMatchObject({
      name: 'open',
      error: { code: 'origin/dirty', message: expect.stringContaining('AGENTS.md') },
    });
    expect(factory.provider.requests).toEqual([]);
  });
});

describe('an agent that is cut short', () => {
  it('by its time limit: a partial row, and the next shift continues the branch and the session', async () => {
    await begin([
      { calls: building().slice(0, 2) },
      { text: 'thinking', silent: true },
      { calls: building() },
      settle(),
    ]);
    const config = await factory.config({ time_limit: '8s' });
    const cut = await workShift({ config });
    expect(cut).toMatchObject({ verdict: 'red', outcome: 'aborted' });
    expect(failed(cut)?.error?.code).toBe('agent/time');
    expect(readRow(config.data, cut.session as string)).toMatchObject({
      complete: true,
      machinery: { outcome: 'aborted', committed: false, catalogue_check: '', probe: '' },
    });

    const next = await workShift({ config: await factory.config() });
    expect(next).toMatchObject({
      verdict: 'green',
      branch: cut.branch,
      continued: 1,
      chain: [cut.session, next.session],
    });
    expect(readRow(config.data, next.session as string).chain).toEqual(next.chain);
  });

  it('by a stop: interrupted, its work kept', async () => {
    const stop = new AbortController();
    await begin([
      { calls: building().slice(0, 2) },
      () => {
        stop.abort();
        return { text: 'thinking', silent: true };
      },
    ]);
    const config = await factory.config();
    const record = await workShift({ config, signal: stop.signal });
    expect(record).toMatchObject({ verdict: 'interrupted', outcome: 'aborted' });
    expect(factory.originGit('ls-tree', '-r', '--name-only', record.branch as string)).toContain(
      'ice-plant-compressor/index.html',
    );
    expect(await finishInterrupted(config)).toEqual([]);
  });

  it('by its time limit before it made anything: no next shift is promised to go on with it', async () => {
    await begin([{ text: 'Well.', silent: true }], { text: 'Well.', silent: true });
    const red = await workShift({ config: await factory.config({ time_limit: '3s', agent_grace: '1s' }) });
    expect(red).toMatchObject({ verdict: 'red', dropped: true });
    expect(failureOf(red)?.error).toMatchObject({
      code: 'agent/time',
      mend: 'Nothing to do: the next shift begins afresh, for nothing was made. Raise time_limit if this is common.',
    });
  });

  it('by a provider that refuses the key: told, with the exchange, and no branch stays', async () => {
    await begin([], { status: 401, body: { error: { message: `no such key ${KEY}` } } });
    const config = await factory.config();
    const red = await workShift({ config });
    expect(failed(red)?.error).toMatchObject({ code: 'agent/provider', mend: expect.stringContaining('key') });
    expect(red.providerFailure).toMatchObject({ status: 401 });
    expect(factory.originGit('branch', '--list', 'shift/*')).toBe('');
    for (const file of ['shift.json', 'log.ndjson', 'agent.log']) {
      expect(readFileSync(join(config.data, 'shifts', red.id, file), 'utf8')).not.toContain(KEY);
    }
  });

  it('settled without having made anything is red by scope, and no branch stays', async () => {
    await begin([], settle('Nothing was needed.'));
    const red = await workShift({ config: await factory.config({ rework: 0 }) });
    expect(red.dropped).toBe(true);
    expect(failed(red)).toMatchObject({ name: 'scope', error: { code: 'gate/scope-failed' } });
    expect(red.findings).toMatchObject({ 'scope/entry': 1 });
    expect(factory.originGit('branch', '--list', 'shift/*')).toBe('');
  });
});

describe('the words of the shelf', () => {
  it('reach the gates that the agent runs, wherever they are set', async () => {
    const words =
      'node -e "console.log(process.env.MACHINERY_CATALOGUE_DOMAINS, process.env.MACHINERY_CATALOGUE_ERAS)"';
    let answer = '';
    await begin([
      call('shell', { command: `${words}; scripts/check.sh` }),
      (request) => {
        answer = JSON.stringify(request.body.messages);
        return settle();
      },
    ]);
    const env = { MACHINERY_CATALOGUE_DOMAINS: 'theatre,medical', MACHINERY_CATALOGUE_ERAS: '1920s' };
    await workShift({ config: await factory.config({ rework: 0 }, env) });
    expect(answer).toContain('theatre,medical 1920s');
  });
});

describe('what is not there', () => {
  it.each([
    ['an order that is broken', { order: 'orders/broken.yaml' }, {}, 'order/invalid'],
    ['an order that is missing', { order: 'orders/none.yaml' }, {}, 'order/invalid'],
    ['a Chromium', {}, { CHROMIUM_PATH: '/nowhere/chromium' }, 'browser/missing'],
  ])('%s is told before anything is spent', async (_, flags, env, code) => {
    await begin(makes());
    writeFileSync(join(factory.root, 'orders', 'broken.yaml'), 'objective: x\ngoal: y\n');
    const before = process.env.CHROMIUM_PATH;
    Object.assign(process.env, env);
    try {
      const red = await workShift({ config: await factory.config(flags) });
      expect(red).toMatchObject({ verdict: 'red', session: null });
      expect(failed(red)).toMatchObject({ name: 'staff', error: { code } });
      expect(factory.provider.requests).toEqual([]);
    } finally {
      if (before === undefined) delete process.env.CHROMIUM_PATH;
      else process.env.CHROMIUM_PATH = before;
    }
  });

  it('a key makes the shift idle', async () => {
    await begin(makes());
    const record = await workShift({ config: await factory.config({ provider: 'openrouter', base_url: undefined }) });
    expect(record).toMatchObject({ verdict: 'idle', reason: expect.stringContaining('OPENROUTER_API_KEY') });
  });

  it('what a rework costs counts towards the cap of the shift', async () => {
    const stray = { path: 'site/machines/ice-plant-compressor/notes.txt', content: 'x' };
    const dear = { usage: { input: 6000, output: 2000 } };
    const flawed: Reply = { calls: [...building(), { name: 'write', arguments: stray }], ...dear };
    await begin([flawed, { ...settle(), ...dear }], { text: 'thinking', ...dear });
    const record = await workShift({ config: await factory.config({ tokens: 20_000 }) });
    expect(failed(record)?.error?.code).toBe('agent/cap');
    expect(record.usage).toMatchObject({ requests: 3, inputTokens: 18_000, outputTokens: 6000 });
  });

  it('money left for today makes the shift idle', async () => {
    const costly: Reply = { ...settle(), usage: { input: 10, output: 5, cost: 3 } };
    await begin([], costly);
    const config = await factory.config({ cost_per_day: 2, rework: 0 });
    expect(await workShift({ config })).toMatchObject({ usage: { dollars: 3 } });
    expect(await workShift({ config })).toMatchObject({ verdict: 'idle', reason: expect.stringContaining('$3.00') });
  });
});

describe.runIf(process.getuid?.() === 0)('a disk that is full', () => {
  /** Gives the data folder a disk of its own, of so many kilobytes. */
  const onSmallDisk = async (kilobytes: number, work: (data: string) => Promise<void>) => {
    const data = join(factory.root, '.machinery');
    mkdirSync(data);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', data]);
    try {
      await work(data);
    } finally {
      execFileSync('umount', ['--lazy', data]);
    }
  };

  it('as the shift opens: told with the mend, no agent started', async () => {
    await begin(makes());
    await onSmallDisk(150, async () => {
      const red = await workShift({ config: await factory.config({ disk_floor: '1KB' }) });
      expect(red).toMatchObject({ verdict: 'red', session: null });
      expect(failed(red)).toMatchObject({
        name: 'open',
        error: { code: 'data/full', mend: expect.stringContaining('space') },
      });
      expect(factory.provider.requests).toEqual([]);
    });
  });

  it('while the agent works: no half row, and with room again the next shift lands the work', async () => {
    await begin(
      [
        { calls: building() },
        () => {
          fill(join(factory.root, '.machinery', 'ballast'));
          return { text: 'and on' };
        },
      ],
      settle(),
    );
    await onSmallDisk(8000, async (data) => {
      const config = await factory.config({ disk_floor: '1KB' });
      const red = await workShift({ config });
      expect(red.verdict).toBe('red');
      for (const id of await factory.rows(config)) expect(readRow(data, id).chain).toContain(id);
      execFileSync('rm', ['-f', join(data, 'ballast')]);
      const next = await workShift({ config });
      expect(next).toMatchObject({ verdict: 'green', machine: 'ice-plant-compressor' });
    });
  });
});

function prefixed({ entry, files }: ReturnType<typeof goodMachine>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`site/machines/${entry.slug}/${name}`, text]));
}

interface Row {
  complete: boolean;
  chain: string[];
  machinery: Record<string, unknown>;
}

function readRow(data: string, id: string): Row {
  return JSON.parse(readFileSync(join(data, 'dataset', 'trajectories', id, `${id}.jsonl`), 'utf8')) as Row;
}

/** Makes main move just before it takes a push, so many times: git then refuses the push as one that lost a race. */
function moveOnPush(origin: string, times: number): void {
  const hook = join(origin, 'hooks', 'update');
  writeFileSync(
    hook,
    `#!/bin/sh
[ "$1" = refs/heads/main ] || exit 0
n=$(cat moved 2>/dev/null || echo 0)
[ "$n" -lt ${times} ] || exit 0
echo $((n + 1)) > moved
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
new=$(GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x git commit-tree -p main -m "moved $n" 'main^{tree}')
git update-ref refs/heads/main "$new"
exit 0
`,
  );
  chmodSync(hook, 0o755);
}

/** Writes a file until the disk takes no more. */
function fill(path: string): void {
  const block = Buffer.alloc(64 * 1024);
  try {
    for (let n = 0; n < 1000; n += 1) writeFileSync(path, block, { flag: 'a' });
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  }
}
