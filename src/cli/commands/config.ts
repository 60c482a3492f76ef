import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { configurationReference } from '../../config/reference.ts';
import { SECRET_VARIABLES } from '../../config/secrets.ts';
import { withoutCredentials } from '../../support/urls.ts';

/** `machinery config`: what the factory would work with. */
export function register(program: Command): void {
  program
    .command('config')
    .description('print the resolved configuration; secrets are shown only as set or unset')
    .option('--json', 'as JSON')
    .option('--reference', 'print docs/configuration.md: every setting, its variable, its default')
    .addHelpText('after', '\nExamples:\n  machinery config\n  MACHINERY_TIME_LIMIT=40m machinery config --json')
    .action(async (options: { json?: boolean; reference?: boolean }) => {
      if (options.reference) return void process.stdout.write(configurationReference());
      const { secrets, ...config } = await loadConfig();
      const states = Object.fromEntries(
        Object.keys(SECRET_VARIABLES).map((name) => [
          name,
          secrets.some((secret) => secret.name === name) ? 'set' : 'unset',
        ]),
      );
      if (options.json) {
        console.log(JSON.stringify({ ...config, origin: withoutCredentials(config.origin), secrets: states }, null, 2));
        return;
      }
      const { stringify } = await import('yaml');

      process.stdout.write(
        stringify(
          { ...config, origin: withoutCredentials(config.origin), secrets: states },
          { lineWidth: 0, aliasDuplicateObjects: false },
        ),
      );
    });
}
