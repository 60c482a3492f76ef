import type { Command } from 'commander';

/** `machinery card`: the dataset's README. */
export function register(program: Command): void {
  program
    .command('card')
    .description("write the dataset's card (its README) from the factory's own facts")
    .option('--out <file>', 'write it to a file instead of standard output')
    .addHelpText('after', '\nExamples:\n  machinery card\n  machinery card --out README.dataset.md')
    .action(async ({ out }: { out?: string }) => {
      const { join, resolve } = await import('node:path');
      const { loadConfig } = await import('../../config/load.ts');
      const { cardOf } = await import('../../dataset/card.ts');
      const { marked } = await import('../../dataset/card-mark.ts');
      const { DatasetStore } = await import('../../dataset/store.ts');
      const { writeFileDurable } = await import('../../support/files.ts');
      const { withoutCredentials } = await import('../../support/urls.ts');
      const config = await loadConfig();
      const { normalised } = config.dataset;
      const repository = withoutCredentials(config.origin);
      const card = await cardOf(new DatasetStore(join(config.data, 'dataset')), {
        normalised,
        // A path says nothing to a reader of the card.
        ...(/^[a-z]+:\/\//.test(repository) ? { repository } : {}),
      });
      const text = marked(card);
      if (out === undefined) process.stdout.write(text);
      else await writeFileDurable(resolve(out), text, 0o644);
    });
}
