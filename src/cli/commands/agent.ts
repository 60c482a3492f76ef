import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { FactoryError } from '../../support/errors.ts';

interface Options {
  dir: string;
  sessionDir: string;
  recordsDir?: string;
  config: string;
  fresh?: boolean;
  resume?: string;
  findings?: string;
  maxIterations?: string;
}

const usage = (message: string, mend = 'See `machinery agent --help`.') =>
  new FactoryError('usage/invalid', { message, mend });

/** `machinery agent`: one run of the built-in harness, as the factory starts it in a child process. */
export function register(program: Command): void {
  program
    .command('agent')
    .description('run the built-in agent once in a checkout (a shift does this by itself)')
    .argument('[order]', 'the work order of a fresh run')
    .option('--dir <checkout>', 'the checkout the agent works in', '.')
    .requiredOption('--session-dir <dir>', 'where its session log is written')
    .option('--records-dir <dir>', 'taken for the sake of harnesses that keep a ledger; this one keeps none')
    .requiredOption('--config <file>', 'its model and limits (JSON or YAML; see docs/harnesses.md)')
    .option('--fresh', 'start from the order')
    .option('--resume <id>', 'continue a session of --session-dir instead')
    .option('--findings <file>', 'with --resume: what the gates found, for the agent to mend')
    .option('--max-iterations <n>', 'model turns at most')
    .addHelpText(
      'after',
      `
The run ends when the agent settles, at a limit, or with SIGTERM or SIGINT. How it ended is the last line of the log.
Exit status: 0 settled, 1 anything else, 2 wrong arguments.

Examples:
  machinery agent --dir checkout --session-dir sessions --config agent.json --fresh orders/new-machine.yaml
  machinery agent --dir checkout --session-dir sessions --config agent.json --resume 20260504-120000`,
    )
    .action(async (order: string | undefined, options: Options) => {
      // The log is whole and closed; a call that was given up (a file system that hangs) must not hold the process.
      process.exit(await agent(order, options));
    });
}

async function agent(order: string | undefined, options: Options): Promise<number> {
  if ((options.resume !== undefined) === (options.fresh === true)) {
    throw usage('say either --fresh ORDER or --resume ID');
  }
  if (options.fresh && order === undefined) throw usage('--fresh needs the work order to start from');
  if (options.resume !== undefined && order !== undefined)
    throw usage('--resume takes no order: the session has its task');
  if (options.findings !== undefined && options.resume === undefined) throw usage('--findings goes with --resume');
  const checkout = resolve(options.dir);
  if (!(await stat(checkout).catch(() => null))?.isDirectory()) {
    throw usage(`${checkout} is not a folder`, 'Name the checkout with --dir.');
  }
  const { readAgentConfig } = await import('../../harness/builtin/config.ts');
  const config = await readAgentConfig(resolve(options.config));
  if (options.maxIterations !== undefined) {
    const most = Number(options.maxIterations);
    if (!Number.isInteger(most) || most < 1) throw usage('--max-iterations takes a whole number from 1');
    config.limits.iterations = most;
  }
  const findings = options.findings === undefined ? undefined : await findingsOf(resolve(options.findings));
  const { runAgent } = await import('../../harness/builtin/run.ts');
  const { plain } = await import('../print.ts');

  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  // Whoever reads the output may be gone: the log is the record, so the run goes on.
  process.stdout.on('error', () => {});
  const result = await runAgent(
    {
      checkout,
      sessions: resolve(options.sessionDir),
      config,
      ...(order === undefined ? {} : { order: resolve(order) }),
      ...(options.resume === undefined ? {} : { resume: options.resume }),
      ...(findings === undefined ? {} : { findings }),
    },
    (line) => process.stdout.write(`${plain(line)}\n`),
    stop.signal,
  );
  return result.code === 0 ? 0 : 1;
}

async function findingsOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: Error) => {
    throw usage(`the findings cannot be read: ${error.message}`, 'Name an existing file with --findings.');
  });
}
