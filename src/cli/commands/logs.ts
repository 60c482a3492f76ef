import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';

/** `machinery logs`: one shift, the bad news first. */
export function register(program: Command): void {
  program
    .command('logs')
    .description('show a shift: what failed and how to mend it, then every station, then where everything is')
    .argument('[id]', 'a shift, or `last`', 'last')
    .option('--station <name>', 'only the log lines of one station')
    .option('--json', 'the log lines as they were written, one JSON object each')
    .addHelpText(
      'after',
      '\nExamples:\n  machinery logs\n  machinery logs 20260105-093000 --station probe\n  machinery logs last --json | jq .msg',
    )
    .action(async (id: string, options: { station?: string; json?: boolean }) => {
      const { showShift } = await import('../show-shift.ts');
      const { data } = await loadConfig();
      await showShift(data, id, options);
    });
}
