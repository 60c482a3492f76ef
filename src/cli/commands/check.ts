import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Command } from 'commander';

/** `machinery check`: the static gate, for the agent, for people and for scripts. */
export function register(program: Command): void {
  program
    .command('check')
    .description("judge the shelf's catalogue and each machine's four files, without running them")
    .argument('[slug...]', 'tell only these machines; uniqueness is judged against all')
    .option('--site <dir>', 'the folder that holds machines.json and machines/', 'site')
    .option('--json', 'print {gate, ok, machines, findings, durationMs} on stdout and nothing else')
    .option('--no-cache', 'judge every machine afresh, and remember nothing')
    .addHelpText(
      'after',
      `
Examples:
  machinery check
  machinery check ice-plant-compressor
  machinery check --site /tmp/site --json

Exit status: 0 when no finding is an error, 1 when one is, 2 when the gate could not run.`,
    )
    .action(async (slugs: string[], options: { site: string; json?: boolean; cache: boolean }) => {
      const { check } = await import('../../gates/check/check.ts');
      const vocabulary = await configuredVocabulary();
      const report = await check({
        site: options.site,
        slugs,
        cache: options.cache ? cacheFolder(process.env) : null,
        ...(vocabulary ? { vocabulary } : {}),
      });
      process.exitCode = report.ok ? 0 : 1;
      if (options.json) {
        process.stdout.write(`${JSON.stringify(report)}\n`);
        return;
      }
      const { printReport, showsColour } = await import('../../gates/print.ts');
      process.stdout.write(printReport(report, { colour: showsColour(process.stdout), site: options.site }));
    });
}

/** The factory's own words for places, when the command runs inside one. */
async function configuredVocabulary() {
  const { findConfig } = await import('../../config/find.ts');
  if (!findConfig(process.cwd())) return null;
  // The configuration's libraries take longer to start than a machine takes to judge: loaded only where there is one.
  const { loadConfig } = await import('../../config/load.ts');
  return (await loadConfig()).catalogue;
}

/** Where verdicts are kept: in the data folder when there is one, else in the system's cache; null where neither is writable. */
export function cacheFolder(env: NodeJS.ProcessEnv): string | null {
  const home = env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(homedir(), '.cache');
  const folder = env.MACHINERY_DATA ? join(env.MACHINERY_DATA, 'cache', 'check') : join(home, 'machinery', 'check');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return null;
  }
}
