import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { plain, styled } from '../print.ts';

const COLOURS = { ok: 'green', warning: 'yellow', broken: 'red' } as const;

/** `machinery doctor`: is everything there that a shift needs? */
export function register(program: Command): void {
  program
    .command('doctor')
    .description('look at everything a shift needs, and say how to mend what is wrong; changes nothing')
    .option('--live', 'also ask the model something tiny, which may cost a fraction of a cent')
    .option('--json', 'as a JSON array of {name, state, told, mend?}')
    .addHelpText(
      'after',
      `
Each line is ok, warning (shifts can be worked, but somebody should know) or broken.
Exit code: 0 when nothing is broken, 1 when something is, 2 when the configuration itself is wrong.

Examples:
  machinery doctor
  machinery doctor --live
  machinery doctor --json | jq '.[] | select(.state != "ok")'`,
    )
    .action(async (options: { live?: boolean; json?: boolean }) => {
      const { examine } = await import('../../doctor/doctor.ts');
      const found = await examine(await loadConfig(), { live: options.live ?? false });
      process.exitCode = found.some(({ state }) => state === 'broken') ? 1 : 0;
      if (options.json) return void process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
      for (const { name, state, told, mend } of found) {
        process.stdout.write(`${styled(COLOURS[state], state.padEnd(7))}  ${name.padEnd(8)}  ${plain(told)}\n`);
        if (mend !== undefined) process.stdout.write(`${styled('dim', `${' '.repeat(19)}mend: ${plain(mend)}`)}\n`);
      }
    });
}
