import { join } from 'node:path';
import { writeFileDurable } from '../../support/files.ts';
import { MAIN, packageVersion } from '../../support/self.ts';
import type { Command, Harness, HarnessRun } from '../types.ts';
import { type AgentConfig, agentConfigSchema } from './config.ts';

/** The built-in harness: `machinery agent` as a child process, so that it is confined and killed like any other. */
export const builtin: Harness = {
  name: 'builtin',
  async version() {
    return packageVersion();
  },
  async command(run: HarnessRun): Promise<Command> {
    const { timeMs, iterations, tokens, dollars } = run.limits;
    const config: AgentConfig = agentConfigSchema.parse({
      model: run.model,
      limits: { timeMs, iterations, tokens, dollars },
    });
    // A file, mode 0600: every process can read another's arguments, and the agent's shell inherits the environment.
    const file = join(run.scratch, 'agent.json');
    await writeFileDurable(file, `${JSON.stringify(config, null, 2)}\n`);
    const findings = join(run.scratch, 'findings.md');
    if (run.findings !== undefined) await writeFileDurable(findings, run.findings);
    return {
      file: process.execPath,
      args: [
        MAIN,
        'agent',
        ...['--dir', run.checkout, '--session-dir', run.sessions, '--records-dir', run.records, '--config', file],
        ...(run.findings === undefined ? [] : ['--findings', findings]),
        ...(run.resume === undefined ? ['--fresh', run.order] : ['--resume', run.resume]),
      ],
      env: {},
    };
  },
};
