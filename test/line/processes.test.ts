import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MARK, markOf } from '../../src/line/processes.ts';
import { type Bench, bench } from './helpers.ts';

let at: Bench;
const started: ChildProcess[] = [];
beforeEach(() => {
  at = bench();
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  at.remove();
});

/** A process that bears the mark of a git call, as a transport helper would. */
async function helper(mark: string, program = 'exec sleep 600'): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', `echo up; ${program}`], {
    env: { PATH: process.env.PATH ?? '', [MARK]: mark },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

const gone = (child: ChildProcess) => new Promise<void>((resolve) => child.once('exit', () => resolve()));

it('ends at the next start what a dead factory left on its git dir, also what ignores being asked, and its locks', async () => {
  await at.open();
  const dead = `call:4194303.1:${at.gitDir}`;
  const ended = [await helper(dead), await helper(dead, "trap '' TERM; while :; do sleep 1; done")].map(gone);
  writeFileSync(join(at.gitDir, 'HEAD.lock'), '');
  await at.open();
  await Promise.all(ended);
  expect(existsSync(join(at.gitDir, 'HEAD.lock'))).toBe(false);
});

it('leaves alone what a living factory does, with its locks, and what is done on another git dir', async () => {
  await at.open();
  const ours = await helper(markOf('call', at.gitDir));
  const elsewhere = await helper(`call:4194303.1:${at.gitDir}-of-another`);
  writeFileSync(join(at.gitDir, 'HEAD.lock'), '');
  await at.open();
  expect(existsSync(join(at.gitDir, 'HEAD.lock'))).toBe(true);
  expect([ours.exitCode, ours.signalCode, elsewhere.exitCode, elsewhere.signalCode]).toEqual([null, null, null, null]);
});
