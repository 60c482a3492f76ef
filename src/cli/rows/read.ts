import type { Command } from 'commander';
import { FactoryError } from '../../support/errors.ts';
import { cells, openRows, print, withSource } from './source.ts';

interface Flags {
  source?: string;
  json?: boolean;
  whole?: boolean;
}

/** `machinery rows show <id>`. */
export function registerShow(rows: Command): void {
  withSource(rows.command('show'))
    .description("read a row's conversation")
    .argument('<id>', "the row's id, or `last`")
    .option('--whole', 'cut nothing')
    .option('--json', 'the messages as JSON lines')
    .action(async (id: string, flags: Flags) => {
      const { conversationText } = await import('../../dataset/show.ts');
      const { readRow } = await import('../../dataset/row-reader.ts');
      const store = await openRows(flags);
      const wanted = id === 'last' ? ((await store.ids()).at(-1) ?? id) : id;
      if (wanted === 'last' || !(await store.has(wanted))) {
        throw new FactoryError('row/unknown', {
          message: `there is no row ${id}`,
          mend: 'Run `machinery rows` for the rows there are.',
        });
      }
      if (!flags.json) {
        for await (const text of conversationText(store.rowPath(wanted), flags.whole)) print(text);
        return;
      }
      for await (const part of readRow(store.rowPath(wanted))) {
        if (part.key === 'snapshots') break;
        if (part.message) print(JSON.stringify(part.message));
      }
    });
}

/** `machinery rows critiques`. */
export function registerCritiques(rows: Command): void {
  withSource(rows.command('critiques'))
    .description("every look at a machine's own screenshot, the image, and what the model made of it")
    .option('--json', 'as JSON lines')
    .action(async (flags: Flags) => {
      const { critiquesOf } = await import('../../dataset/critiques.ts');
      const store = await openRows(flags);
      for (const id of await store.ids()) {
        // A row may be held or taken away while the others are read.
        if (!(await store.has(id))) continue;
        for await (const critique of critiquesOf(id, store.rowPath(id))) {
          if (flags.json) {
            print(JSON.stringify(critique));
            continue;
          }
          const { row, at, path, image = 'image lost', said, reasoning, did } = critique;
          print(`${row} [${at}] ${path} (${image})`);
          print(
            (said || reasoning || '(nothing said)')
              .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
              .replace(/^/gm, '    '),
          );
          print(`  > ${did.join(', ') || 'no call'}\n`);
        }
      }
    });
}

/** `machinery rows shelf`. */
export function registerShelf(rows: Command): void {
  withSource(rows.command('shelf'))
    .description('the catalogue as the settled rows tell it, and where machines.json says something else')
    .option('--json', 'as JSON')
    .action(async (flags: Flags) => {
      const { join } = await import('node:path');
      const { readCatalogue } = await import('../../catalogue/catalogue.ts');
      const { loadConfig } = await import('../../config/load.ts');
      const { shelfOf } = await import('../../dataset/shelf.ts');
      const store = await openRows(flags);
      const site = await readCatalogue(join((await loadConfig()).root, 'site')).catch(() => null);
      const shelf = shelfOf(await store.list(), site);
      if (flags.json) return print(JSON.stringify(shelf, null, 2));
      const widths = [28, 14, 12, 40];
      for (const { slug, domain, era, kind } of shelf.entries)
        print(cells(widths, [slug, domain, era, kind].map(String)));
      print(`${shelf.entries.length} machines in the rows`);
      if (site === null) print('site/machines.json could not be read: nothing was compared');
      const told = {
        'only in the rows': shelf.onlyInRows,
        'only on the site': shelf.onlyOnSite,
        different: shelf.different,
      };
      for (const [what, slugs] of Object.entries(told)) if (slugs.length > 0) print(`${what}: ${slugs.join(', ')}`);
    });
}

/** `machinery rows stats`. */
export function registerStats(rows: Command): void {
  withSource(rows.command('stats'))
    .description('counts, time, tokens, cost and findings, in all and by model')
    .option('--json', 'as JSON')
    .action(async (flags: Flags) => {
      const { tally, tallyByModel } = await import('../../dataset/tally.ts');
      const all = await (await openRows(flags)).list();
      const [sum, models] = [tally(all), tallyByModel(all)];
      if (flags.json) return print(JSON.stringify({ all: sum, models }, null, 2));
      const { rows: count, tips, finished, partial, seconds, tokens, cost, calls, images, looked } = sum;
      print(`${count} rows, ${tips} tips, ${finished} finished machines, ${partial} without a result`);
      print(
        `outcomes: ${
          Object.entries(sum.outcomes)
            .map(([name, n]) => `${name || 'none'} ${n}`)
            .join(', ') || 'none'
        }`,
      );
      print(`${(seconds / 3600).toFixed(1)} hours, ${calls} tool calls, ${images} images`);
      print(`${looked.views} looks, ${looked.afterChange} of them after a change`);
      print(`${tokens.input} tokens in, ${tokens.output} out, $${cost.toFixed(2)}, ${(sum.bytes / 1e6).toFixed(1)} MB`);
      const widths = [32, -6, -9, -8, -14, -10];
      print(`\n${cells(widths, ['MODEL', 'ROWS', 'FINISHED', 'HOURS', 'TOKENS', 'COST'])}`);
      for (const { provider, model, tally: of } of models) {
        const spent = of.tokens.input + of.tokens.output;
        const hours = (of.seconds / 3600).toFixed(1);
        print(cells(widths, [`${provider}/${model}`, of.rows, of.finished, hours, spent, `$${of.cost.toFixed(2)}`]));
      }
      const findings = Object.entries(sum.findings).sort(([, a], [, b]) => b - a);
      if (findings.length > 0) print('\nFINDINGS');
      for (const [rule, n] of findings) print(cells([32, -6], [rule, n]));
    });
}
