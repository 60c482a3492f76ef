#!/usr/bin/env node
// Kills the factory at random points, one to three times in a row, and looks whether everything is sound after each
// restart: the crash test, longer. The seed makes a run repeatable.
//   node bench/crash.mjs [rounds] [seed]        40 rounds over each kind of origin unless told
import { spawnSync } from 'node:child_process';

const [rounds = '40', seed = String(Math.floor(Math.random() * 2 ** 31))] = process.argv.slice(2);
process.stdout.write(`crash: ${rounds} rounds over each kind of origin, seed ${seed}\n`);
const { status } = spawnSync('npx', ['vitest', 'run', 'test/e2e/crash.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, CRASH_SEED: seed, CRASH_ROUNDS: rounds },
});
process.exitCode = status ?? 1;
if (status !== 0) process.stdout.write(`crash: play it again with: node bench/crash.mjs ${rounds} ${seed}\n`);
