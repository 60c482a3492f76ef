import type { Command } from 'commander';
import { PROVIDERS } from '../../config/schema.ts';

interface Options {
  provider?: string;
  model?: string;
  harness?: string;
  json?: boolean;
  wait: boolean;
}

const EXITS = `
Exit codes:
  0    green (a machine landed) or idle (there was nothing to do)
  1    red: something failed; \`machinery logs\` says what
  2    the configuration or the command line is wrong
  75   another shift is running, and --no-wait was given
  130, 143   stopped by a signal; the work is kept for the next shift

Examples:
  machinery shift                                   the rehearsal: no key is needed
  machinery shift --provider openrouter --model anthropic/claude-sonnet-4.5
  machinery shift --json | jq -r .verdict`;

/** `machinery shift`: works one shift now. */
export function register(program: Command): void {
  program
    .command('shift')
    .description('work one shift: build a machine, gate it, land it, keep its row')
    .option('--provider <name>', `whose model works: ${PROVIDERS.join(', ')}`)
    .option('--model <name>', 'the model, as the provider names it')
    .option('--harness <name>', 'what drives the agent: builtin, zot or auto')
    .option('--json', 'print the record on stdout, and nothing else there')
    .option('--no-wait', 'exit with 75 when another shift is running')
    .addHelpText('after', EXITS)
    .action(async (options: Options) => {
      const { runShift } = await import('../run-shift.ts');
      process.exitCode = await runShift(options);
      // simple-git keeps a timer of two seconds for every call; once all is said there is nothing to wait for.
      process.stdout.write('', () => process.exit());
    });
}
