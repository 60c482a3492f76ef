import type { Command } from 'commander';

const TEXT = `
Who has it can start, stop and pause; treat it as a password. It is MACHINERY_CONSOLE_TOKEN when that is set, else one that is
made here and kept in the data folder (console-token, mode 0600), which the agent cannot read. Remove that file and restart
the factory to have a new one: everybody is signed out.

Examples:
  machinery console-token
  curl -X POST http://127.0.0.1:8484/api/shifts -H "Authorization: Bearer $(machinery console-token)" \\
    -H 'Content-Type: application/json' -d '{}'`;

/** \`machinery console-token\`: the token that acts in the control room need. */
export function register(program: Command): void {
  program
    .command('console-token')
    .description('show the token that signs in to the control room')
    .addHelpText('after', TEXT)
    .action(async () => {
      const [{ loadConfig }, { consoleToken }] = await Promise.all([
        import('../../config/load.ts'),
        import('../../console/token.ts'),
      ]);
      process.stdout.write(`${await consoleToken(await loadConfig())}\n`);
    });
}
