import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtin } from '../../../src/harness/builtin/harness.ts';
import type { HarnessRun } from '../../../src/harness/types.ts';
import { listSessions } from '../../../src/session/read.ts';
import { run, start } from '../../../src/support/process.ts';
import { MAIN } from '../../../src/support/self.ts';
import { Bench, TOKEN } from '../../helpers/agent.ts';
import { call, type Script, settle } from '../../helpers/provider.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.make();
});
afterEach(() => bench.remove());

/** What the driver would be asked to run. */
async function harnessRun(script: Script, more: Partial<HarnessRun> = {}): Promise<HarnessRun> {
  const { baseUrl } = await bench.provider(script);
  return {
    shift: '20260504-120000',
    checkout: bench.checkout,
    sessions: bench.sessions,
    records: join(bench.root, 'records'),
    scratch: join(bench.root, 'scratch'),
    order: bench.order,
    model: { provider: 'scripted', model: 'eyes-1', baseUrl, token: TOKEN, vision: true, context: 131_072 },
    limits: { timeMs: 60_000, graceMs: 1000, iterations: 40 },
    sandbox: 'none',
    env: {},
    agentLog: join(bench.root, 'agent.log'),
    data: join(bench.root, 'data'),
    ...more,
  };
}

const env = () => ({ PATH: process.env.PATH ?? '', TMPDIR: bench.temp });
const newest = async () => (await listSessions(bench.sessions)).at(-1) ?? '';

describe('machinery agent', () => {
  it('works as a child process: its log, its exit status, plain lines, and the token nowhere to be seen', async () => {
    const given = await harnessRun([call('shell', { command: 'echo from the shell' }), settle('Done well.')]);
    const command = await builtin.command(given);
    expect(command.args.join(' ')).not.toContain(TOKEN);
    expect((await stat(join(given.scratch, 'agent.json'))).mode & 0o777).toBe(0o600);
    const { stdout, stderr, exitCode } = await run(command.file, command.args, { env: env() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const id = await newest();
    expect(stdout).toContain(`session ${id}: eyes-1 at scripted`);
    expect(stdout).toContain('toolCallStart shell');
    expect(stdout).toContain('settled: Done well.');
    const { lines } = await bench.log(id);
    expect(lines.at(-1)).toMatchObject({ kind: 'result', result: { reason: 'settled' } });
    expect(stdout + JSON.stringify(lines)).not.toContain(TOKEN);
  });

  it('continues a session with what the gates found', async () => {
    const first = await bench.run([settle()]);
    const script: Script = [({ body }) => call('failure', { reason: body.messages.at(-1).content })];
    const given = await harnessRun(script, { resume: first.result.session, findings: 'phone-overflow at 390 px' });
    const command = await builtin.command(given);
    const { exitCode } = await run(command.file, command.args, { env: env() });
    expect(exitCode).toBe(1);
    const { lines } = await bench.log(await newest());
    expect(lines.at(-1)).toMatchObject({
      result: { reason: 'failed', message: expect.stringContaining('phone-overflow') },
    });
  });

  it('ends as aborted with status 1 on SIGTERM, and ends the command it was running', async () => {
    const given = await harnessRun([call('shell', { command: 'echo $$ > running; exec sleep 600' })]);
    const command = await builtin.command(given);
    const child = start(command.file, command.args, { env: env(), stdio: ['ignore', 'ignore', 'ignore'] });
    await expect.poll(() => bench.file('running').catch(() => ''), { timeout: 30_000 }).not.toBe('');
    child.kill('SIGTERM');
    expect((await child).exitCode).toBe(1);
    const { lines, answers } = await bench.log(await newest());
    expect(lines.at(-1)).toMatchObject({ kind: 'result', result: { reason: 'aborted', code: 1 } });
    expect(answers[0]?.failure).toContain('ended with the run');
    const state = await run('sh', ['-c', `cat /proc/$(cat ${join(bench.checkout, 'running')})/stat`]);
    expect(state.exitCode === 0 && !/\) Z /.test(state.stdout)).toBe(false);
  });

  it('says what is wrong with its arguments, with status 2 and no log', async () => {
    const config = join(bench.root, 'agent.yaml');
    const base = ['--dir', bench.checkout, '--session-dir', bench.sessions, '--config', config];
    await writeFile(config, `model: {provider: p, model: m, baseUrl: 'http://127.0.0.1:1/v1', token: '${TOKEN}'}\n`);
    const cases: [string[], RegExp][] = [
      [base, /either --fresh ORDER or --resume ID/],
      [[...base, '--fresh'], /needs the work order/],
      [[...base, '--fresh', bench.order, '--resume', '20260504-120000'], /either/],
      [[...base, '--fresh', join(bench.root, 'none.yaml')], /cannot be read/],
      [[...base, '--fresh', bench.order, '--colour'], /unknown option/],
      [[...base.slice(2), '--dir', join(bench.root, 'nowhere'), '--fresh', bench.order], /is not a folder/],
      [['--session-dir', bench.sessions, '--config', bench.order, '--fresh', bench.order], /configuration/],
    ];
    const ran = await Promise.all(
      cases.map(([args]) => run(process.execPath, [MAIN, 'agent', ...args], { env: env() })),
    );
    for (const [index, { exitCode, stderr, stdout }] of ran.entries()) {
      expect(stderr).toMatch(cases[index]?.[1] as RegExp);
      expect(exitCode, stderr).toBe(2);
      expect(stderr + stdout).not.toContain(TOKEN);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(await listSessions(bench.sessions)).toEqual([]);
  });

  it("is told with the package's own version", async () => {
    expect(await builtin.version()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
