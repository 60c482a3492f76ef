import type { Command } from 'commander';
import type { RowSummary } from '../../dataset/summary.ts';
import { cells, openRows, print, withSource } from './source.ts';

interface Flags {
  source?: string;
  finished?: boolean;
  tips?: boolean;
  partial?: boolean;
  since?: string;
  model?: string;
  json?: boolean;
  csv?: boolean;
}

/** A field of CSV; one that a spreadsheet would run as a formula is quoted out of it. */
function csvField(value: unknown): string {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const COLUMNS: [string, (row: RowSummary) => unknown][] = [
  ['id', ({ id }) => id],
  ['chain', ({ chain }) => chain.join(' ')],
  ['model', ({ model }) => model],
  ['provider', ({ provider }) => provider],
  ['started', ({ started }) => started],
  ['ended', ({ ended }) => ended],
  ['outcome', ({ outcome }) => outcome],
  ['complete', ({ complete }) => complete],
  ['catalogue_check', ({ machinery }) => machinery?.catalogue_check],
  ['probe', ({ machinery }) => machinery?.probe],
  ['committed', ({ machinery }) => machinery?.committed],
  ['machine', ({ machinery }) => machinery?.machine?.slug],
  ['messages', ({ counts }) => counts.messages],
  ['calls', ({ counts }) => counts.calls],
  ['images', ({ counts }) => counts.images],
  ['views', ({ looked }) => looked.views],
  ['input_tokens', ({ tokens }) => tokens.input],
  ['output_tokens', ({ tokens }) => tokens.output],
  ['cost', ({ cost }) => cost],
  ['bytes', ({ bytes }) => bytes],
];

function table(rows: RowSummary[]): void {
  const widths = [18, 11, 8, 8, 24, 24];
  print(cells(widths, ['ROW', 'OUTCOME', 'CHECK', 'PROBE', 'MACHINE', 'MODEL']));
  for (const { id, outcome, machinery, model } of rows) {
    const { catalogue_check: check = '', probe = '', machine } = machinery ?? {};
    print(
      cells(widths, [id, outcome || 'unfinished', check || '-', probe || '-', String(machine?.slug ?? '-'), model]),
    );
  }
  print(`${rows.length} rows`);
}

/** `machinery rows [list]`. */
export function registerList(rows: Command): void {
  withSource(rows.command('list', { isDefault: true }))
    .description('list the rows; the default')
    .option('--finished', 'only finished machines: settled, and both gates passed')
    .option('--tips', 'only rows that no later row continues')
    .option('--partial', 'only shifts without a result')
    .option('--since <time>', 'only rows that ended since a day, a time, or so long ago (36h, 7d)')
    .option('--model <model>', 'only rows of this model')
    .option('--json', 'as JSON')
    .option('--csv', 'as CSV')
    .action(async (flags: Flags) => {
      const { filterRows, sinceOf } = await import('../../dataset/filter.ts');
      const { since, source, json, csv, ...filter } = flags;
      const store = await openRows(source === undefined ? {} : { source });
      const kept = filterRows(await store.list(), {
        ...filter,
        ...(since === undefined ? {} : { since: sinceOf(since) }),
      });
      if (json) return print(JSON.stringify(kept, null, 2));
      if (!csv) return table(kept);
      print(COLUMNS.map(([name]) => name).join(','));
      for (const row of kept) print(COLUMNS.map(([, value]) => csvField(value(row))).join(','));
    });
}
