import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { told } from '../../config/units.ts';
import type { FactoryStatus } from '../../factory/types.ts';
import { plain } from '../print.ts';

/** `machinery status`, `pause` and `resume`: a running factory, asked over its socket. */
export function register(program: Command): void {
  const ask = (name: string, method: 'GET' | 'POST', about: string, examples: string) =>
    program
      .command(name)
      .description(about)
      .option('--json', "the factory's answer as JSON")
      .addHelpText('after', `\nExits 1 when no factory runs.\n\nExamples:\n${examples}`)
      .action(async (options: { json?: boolean }) => {
        const { askFactory } = await import('../../factory/control-client.ts');
        const { data } = await loadConfig();
        const status = await askFactory(data, method, `/${name}`);
        if (options.json) process.stdout.write(`${JSON.stringify(status, null, 2)}\n`);
        else process.stdout.write(tell(status));
      });
  ask(
    'status',
    'GET',
    'say what a running factory does now',
    '  machinery status\n  machinery status --json | jq .nextTick',
  );
  ask('pause', 'POST', 'pause the schedule of a running factory; kept over a restart', '  machinery pause');
  ask('resume', 'POST', 'let the schedule go on', '  machinery resume');
}

function tell(status: FactoryStatus): string {
  const { state, pid, host, version, paused, current, queued, coalesced, nextTick } = status;
  const lines = [`factory ${version}, process ${pid} on ${host}: ${state}`];
  if (paused) lines.push(`paused since ${paused.since} by ${paused.by}`);
  if (nextTick) lines.push(`next tick ${nextTick}, in ${told(Math.max(0, Date.parse(nextTick) - Date.now()))}`);
  if (current) {
    const station = current.record?.stations.at(-1);
    lines.push(
      `shift ${current.record?.id ?? '…'} for ${current.by}, ${told(Date.now() - Date.parse(current.since))}: ${station?.name ?? 'begins'}`,
    );
    if (current.activity) lines.push(`  ${plain(current.activity.text)}`);
  }
  if (queued) lines.push(`one waits, for ${queued.by} since ${queued.since}`);
  if (coalesced > 0) lines.push(`${coalesced} ticks found the place taken`);
  return `${lines.join('\n')}\n`;
}
