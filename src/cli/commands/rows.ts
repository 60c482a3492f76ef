import type { Command } from 'commander';
import { registerExport, registerSchema, registerSql, registerValidate } from '../rows/export.ts';
import { registerList } from '../rows/list.ts';
import { registerCritiques, registerShelf, registerShow, registerStats } from '../rows/read.ts';

/** `machinery rows`: the dataset, read. */
export function register(program: Command): void {
  const rows = program
    .command('rows')
    .description('read the dataset: list, show, count, check, ask and export its rows')
    .addHelpText(
      'after',
      `
Examples:
  machinery rows --finished --tips
  machinery rows list --since 7d --csv > week.csv
  machinery rows show last
  machinery rows critiques --json
  machinery rows stats --source hub:owner/name
  machinery rows validate
  machinery rows sql "SELECT model, count(*) FROM finished GROUP BY model"
  machinery rows export --format parquet --out normalised`,
    );
  registerList(rows);
  registerShow(rows);
  registerCritiques(rows);
  registerShelf(rows);
  registerStats(rows);
  registerValidate(rows);
  registerSql(rows);
  registerExport(rows);
  registerSchema(rows);
}
