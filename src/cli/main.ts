#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { type FactoryError, asFactoryError } from '../support/errors.ts';
import { packageVersion } from '../support/self.ts';
import { COMMANDS } from './commands.ts';
import { printError } from './print.ts';

/** Only wires: each command is a file in commands/, loaded when it is the one that was asked for (or for the list of all). */
async function main(argv: string[]): Promise<void> {
  const program = new Command('machinery')
    .description(
      'A factory that builds one machine a shift, gates it, lands it, and keeps the conversation that built it.',
    )
    .version(packageVersion())
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureHelp({ sortSubcommands: false });
  const asked = COMMANDS.find(({ name }) => name === argv[2]);
  const files = new Set(await Promise.all((asked ? [asked] : COMMANDS).map((command) => command.load())));
  for (const file of files) file.register(program);
  for (const command of program.commands) command.exitOverride().showHelpAfterError('(see --help)');
  await program.parseAsync(argv);
}

// Whoever reads may have read enough (`| head`): what is left is said to nobody, and the exit code stays the command's own.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

main(process.argv).catch((thrown: unknown) => {
  if (thrown instanceof CommanderError) {
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
    return;
  }
  const error = asFactoryError(thrown);
  printError(error);
  process.exitCode = exitCodeOf(error);
});

/** 2 for what the person who ran the command can mend in it or in the configuration; 1 for everything else. */
function exitCodeOf({ code }: FactoryError): number {
  return /^(config|usage|order|gate|browser|catalogue|publish)\//.test(code) ? 2 : 1;
}
