import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { FactoryError } from '../support/errors.ts';
import { writeFileDurable } from '../support/files.ts';
import { run as runProgram } from '../support/process.ts';
import { homeOf } from './environment.ts';
import { ownFolder } from './own-folder.ts';
import { findProgram } from './program.ts';
import type { Command, Harness, HarnessRun } from './types.ts';

/** Options without which zot cannot be driven by the factory: it would write into the checkout, or skip the work. */
const NEEDED = ['--session-dir', '--records-dir', '--rerun', '--fresh', '--resume'];

/** The variable that carries the relay's token; the configuration names it, so that the token is in no file. */
const TOKEN = 'MACHINERY_RELAY_TOKEN';

/** The configuration of one run: one provider, named after the real one, at the relay's address. */
export function zotConfig({ model, limits }: Pick<HarnessRun, 'model' | 'limits'>): string {
  return stringify({
    default_provider: model.provider,
    agent: {
      model: 'line',
      max_iterations: limits.iterations,
      // Told to zot too, so that its agent hears of the time; the driver is who ends it.
      max_time: `${Math.max(1, Math.ceil(limits.timeMs / 1000))}s`,
    },
    providers: {
      [model.provider]: {
        driver: 'custom',
        base_url: model.baseUrl,
        api_key: `$${TOKEN}`,
        models: { line: { model: model.model, vision: model.vision, context: model.context } },
      },
    },
  });
}

/**
 * Leaves the gates' findings where the agent's contract says to look when a run is continued. `.machinery/` is no part
 * of a snapshot. Whatever stands there in its place, a link say, is replaced and not followed.
 */
async function leaveFindings(checkout: string, findings: string | undefined): Promise<void> {
  const file = join(checkout, '.machinery', 'findings.md');
  await ownFolder(join(checkout, '.machinery'));
  await rm(file, { recursive: true, force: true });
  if (findings !== undefined) await writeFileDurable(file, findings, 0o644);
}

/** The external harness: a `zot` binary, at `path`, at ZOT_PATH, or on the PATH. */
export function zot(path = process.env.ZOT_PATH || 'zot'): Harness {
  return { name: 'zot', version: () => versionOf(path), command: (run) => commandOf(path, run) };
}

async function ask(file: string, args: string[]): Promise<string> {
  // A folder of its own stands in for home: asking must neither read nor write the operator's settings.
  const { stdout, stderr, exitCode } = await runProgram(file, args, {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent' },
    timeoutMs: 20_000,
  });
  if (exitCode === 0 || args[0] === '--help') return stdout + stderr;
  throw new FactoryError('harness/cannot-start', {
    message: `\`${file} ${args.join(' ')}\` ended with ${exitCode ?? 'a signal'}`,
    mend: 'See that ZOT_PATH names a zot of version 0.17 or later.',
    data: { file },
  });
}

/**
 * zot's version, as it tells it.
 * @throws FactoryError `harness/cannot-start` when there is none, `harness/too-old` when it lacks an option that is needed
 */
async function versionOf(path: string): Promise<string> {
  const file = await findProgram(path);
  const [told, help] = [await ask(file, ['--version']), await ask(file, ['--help'])];
  const version = /zot\s+v?(\S+)/.exec(told)?.[1] ?? 'unknown';
  const offered = new Set(help.match(/--[a-z][a-z-]*/g));
  const missing = NEEDED.filter((option) => !offered.has(option));
  if (missing.length === 0) return version;
  throw new FactoryError('harness/too-old', {
    message: `zot ${version} at ${file} has no ${missing.join(', ')}`,
    mend: 'Install zot 0.17 or later, or set harness: builtin.',
    data: { file, version, missing },
  });
}

async function commandOf(path: string, run: HarnessRun): Promise<Command> {
  await mkdir(run.scratch, { recursive: true, mode: 0o700 });
  // zot looks for instructions beside its configuration: a new, empty folder has none.
  const folder = await mkdtemp(join(run.scratch, 'zot-'));
  const config = join(folder, 'config.yaml');
  await writeFileDurable(config, zotConfig(run));
  await leaveFindings(run.checkout, run.findings);
  return {
    file: path,
    args: [
      ...['--dir', run.checkout, '--session-dir', run.sessions, '--records-dir', run.records],
      ...['--config', config, '--rerun', '--plain'],
      ...(run.resume === undefined ? ['--fresh', run.order] : ['--resume', run.resume]),
    ],
    env: { [TOKEN]: run.model.token, XDG_CONFIG_HOME: join(homeOf(run), '.config') },
  };
}
