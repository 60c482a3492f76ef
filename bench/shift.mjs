// A rehearsal shift in a factory of its own: the whole of it (bar: 60 s on two cores), and the orchestrator's own part,
// which is everything but the harness and the three gates (bar: 3 s).
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const main = new URL('../dist/cli/main.js', import.meta.url).pathname;
const OTHERS = new Set(['work', 'check', 'probe', 'scope']);
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

const root = mkdtempSync(join(tmpdir(), 'machinery-bench-'));
try {
  for (const part of ['AGENTS.md', 'orders', 'scripts', 'factory.yaml', '.gitignore'])
    cpSync(part, join(root, part), { recursive: true });
  mkdirSync(join(root, 'site'));
  writeFileSync(join(root, 'site', 'machines.json'), '[]\n');
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid', ...args], { cwd: root });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'Begin');
  const began = performance.now();
  const record = JSON.parse(
    execFileSync(process.execPath, [main, 'shift', '--json'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const whole = performance.now() - began;
  const others = record.stations
    .filter(({ name }) => OTHERS.has(name))
    .reduce((sum, { durationMs }) => sum + durationMs, 0);
  console.log(`  verdict                      ${record.verdict}`);
  console.log(`  whole shift, with start-up   ${seconds(whole)}   (bar 60 s)`);
  console.log(`  orchestrator's own time      ${seconds(whole - others)}   (bar 3 s)`);
  for (const { name, durationMs } of record.stations) console.log(`    ${name.padEnd(8)} ${seconds(durationMs)}`);
  if (record.verdict !== 'green') process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
