import type { Command } from 'commander';

const TEXT = `
It keeps the schedule of factory.yaml, serves the control room (http://127.0.0.1:8484 unless told otherwise), and answers
\`machinery shift\`, \`status\`, \`pause\` and \`resume\`. SIGTERM or SIGINT stops it: the running shift is brought to a safe end
within stop_grace. A second signal is immediate.

Exit codes: 0 stopped, 1 it could not start (another factory has the data folder), 2 the configuration is wrong.

Examples:
  machinery start
  MACHINERY_DATA=/data machinery start | jq -r .msg`;

/** \`machinery start\`: the long run. */
export function register(program: Command): void {
  program
    .command('start')
    .description('run the factory: a shift at every time of the schedule, and the control room')
    .addHelpText('after', TEXT)
    .action(async () => {
      const { runFactory } = await import('../run-factory.ts');
      process.exitCode = await runFactory();
    });
}
