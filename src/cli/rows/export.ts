import type { Command } from 'commander';
import { FactoryError } from '../../support/errors.ts';
import { openRows, print, withSource } from './source.ts';

interface Flags {
  source?: string;
  format: string;
  out: string;
  images: string;
  finished?: boolean;
  tips?: boolean;
}

/** `machinery rows export`. */
export function registerExport(rows: Command): void {
  withSource(rows.command('export'))
    .description('write normalised copies for training tools')
    .requiredOption('--format <format>', 'openai (JSON lines) or parquet')
    .requiredOption('--out <dir>', 'where they go; made when missing')
    .option('--images <how>', 'openai only: data (data URLs) or files', 'data')
    .option('--finished', 'only finished machines')
    .option('--tips', 'only rows that no later row continues')
    .action(async (flags: Flags) => {
      if (!['openai', 'parquet'].includes(flags.format) || !['data', 'files'].includes(flags.images)) {
        throw new FactoryError('usage/invalid', {
          message: `cannot write --format ${flags.format} with --images ${flags.images}`,
          mend: 'Formats are openai and parquet; images go as data or files.',
        });
      }
      const { filterRows } = await import('../../dataset/filter.ts');
      const { exportOpenai, exportParquet } = await import('../../dataset/normalised.ts');
      const { source: _, format, out, images, ...filter } = flags;
      const store = await openRows(flags, true);
      const kept = filterRows(await store.list(), filter);
      const write =
        format === 'parquet' ? exportParquet(store, kept, out) : exportOpenai(store, kept, out, images === 'files');
      const { files, left } = await write;
      for (const { id, why } of left) process.stderr.write(`${id} left out: ${why}\n`);
      for (const file of files) print(file);
    });
}

/** `machinery rows validate [DIR]`. */
export function registerValidate(rows: Command): void {
  withSource(rows.command('validate'))
    .description(
      "check rows: their schema, that answers answer calls, images hash to their names, chains close, ids are one row's",
    )
    .argument('[dir]', 'a folder of rows (a folder a row); the store unless given')
    .option('--json', 'as JSON')
    .action(async (dir: string | undefined, flags: { source?: string; json?: boolean }) => {
      const { validateRows } = await import('../../dataset/validate.ts');
      const folder = dir ?? (await openRows(flags, true)).trajectories;
      const { rows: count, faults } = await validateRows(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' || dir !== undefined) throw error;
        return { rows: 0, faults: [] };
      });
      if (flags.json) print(JSON.stringify({ rows: count, faults }, null, 2));
      else {
        for (const { row, kind, told } of faults) print(`${row}  ${kind}: ${told}`);
        print(`${count} rows, ${faults.length} faults`);
      }
      if (faults.length > 0) process.exitCode = 1;
    });
}

/** `machinery rows sql "SELECT …"`. */
export function registerSql(rows: Command): void {
  withSource(rows.command('sql'))
    .description('ask the rows in SQL (DuckDB), over the views rows, messages, tips, finished and critiques')
    .argument('<query>', 'one SELECT statement')
    .action(async (text: string, flags: { source?: string }) => {
      const { query } = await import('../../dataset/sql.ts');
      for (const row of await query(await openRows(flags), text)) print(JSON.stringify(row));
    });
}

/** `machinery rows schema`: prints what docs/row.schema.json holds. */
export function registerSchema(rows: Command): void {
  rows
    .command('schema')
    .description("a row's JSON schema")
    .action(async () => {
      const { rowJsonSchema } = await import('../../dataset/schema.ts');
      print(JSON.stringify(rowJsonSchema(), null, 2));
    });
}
