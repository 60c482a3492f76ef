import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { told } from '../../config/units.ts';
import { styled } from '../print.ts';

const COLOURS = { green: 'green', red: 'red', idle: 'yellow', interrupted: 'yellow', running: 'cyan' } as const;

/** `machinery shifts`: the records, newest last. */
export function register(program: Command): void {
  program
    .command('shifts')
    .description('list the shifts that were worked, newest last')
    .option('-n, --last <count>', 'only the last so many', '20')
    .option('--verdict <verdict>', 'only green, red, idle or interrupted')
    .option('--json', 'the records as a JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  machinery shifts\n  machinery shifts --verdict red -n 5\n  machinery shifts --json',
    )
    .action(async (options: { last: string; verdict?: string; json?: boolean }) => {
      const { listShifts, readRecord } = await import('../../shift/record.ts');
      const { data } = await loadConfig();
      const records = (await Promise.all((await listShifts(data)).map((id) => readRecord(data, id)))).filter(
        (record) => record !== null,
      );
      const kept = records
        .filter(({ verdict }) => !options.verdict || verdict === options.verdict)
        .slice(-Math.max(1, Number(options.last) || 20));
      if (options.json) return void process.stdout.write(`${JSON.stringify(kept, null, 2)}\n`);
      if (kept.length === 0) return void process.stdout.write('no shift yet: `machinery shift` works one\n');
      for (const record of kept) {
        const verdict = record.verdict ?? 'running';
        const end = record.endedAt ? Date.parse(record.endedAt) : Date.now();
        const time = told(end - Date.parse(record.startedAt)).padStart(10);
        process.stdout.write(
          `${record.id}  ${styled(COLOURS[verdict], verdict.padEnd(11))} ${time}  ${(record.machine ?? '').padEnd(24)} ${record.reason}\n`,
        );
      }
    });
}
