import { join, resolve } from 'node:path';
import type { Command } from 'commander';

interface Flags {
  sessions: string;
  out: string;
  snapshots: boolean;
}

/** `machinery export`: a bare session log becomes a row, without a `machinery` block. */
export function register(program: Command): void {
  program
    .command('export')
    .description('render a session log as a trajectory row: DIR/<id>/<id>.jsonl and its images')
    .argument('<id>', "the session's id, or `last` for the newest log in the folder")
    .requiredOption('--sessions <dir>', 'the folder of session logs')
    .requiredOption('--out <dir>', 'where the row goes; made when missing')
    .option('--no-snapshots', 'leave out the conversations that a compaction or a resume superseded')
    .addHelpText(
      'after',
      `
Examples:
  machinery export last --sessions ~/.zot/sessions --out rows
  machinery export 20260504-120000 --sessions sessions --out rows --no-snapshots

The row is written whole or not at all. Exporting the same again changes nothing; a row of this id that says something
else is left alone and is an error. The line on standard output is the row's path.`,
    )
    .action(async (id: string, flags: Flags) => {
      const { newestSession } = await import('../../session/read.ts');
      const { exportTrajectory } = await import('../../trajectory/export.ts');
      const { FactoryError } = await import('../../support/errors.ts');
      const sessions = resolve(flags.sessions);
      const wanted = id === 'last' ? await newestSession(sessions) : id;
      if (wanted === null) {
        throw new FactoryError('session/unknown', {
          message: `there is no session log in ${sessions}`,
          mend: 'Name the folder that holds the `<id>.jsonl` files with --sessions.',
        });
      }
      const out = resolve(flags.out);
      await exportTrajectory({ sessions, id: wanted, out, snapshots: flags.snapshots });
      process.stdout.write(`${join(out, wanted, `${wanted}.jsonl`)}\n`);
    });
}
