import type { Command } from 'commander';
import { type Config, loadConfig } from '../../config/load.ts';
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
      const shown = withoutSecrets(await loadConfig());
      if (options.json) return void process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      const { stringify } = await import('yaml');
      process.stdout.write(stringify(shown, { lineWidth: 0, aliasDuplicateObjects: false }));
    });
}

/** What may be shown of a configuration: secrets as set or unset, addresses without credentials, of webhooks the host only. */
function withoutSecrets({ secrets, ...config }: Config): object {
  const set = new Set(secrets.map(({ name }) => name));
  return {
    ...config,
    origin: withoutCredentials(config.origin),
    ...(config.base_url === undefined ? {} : { base_url: withoutCredentials(config.base_url) }),
    webhooks: config.webhooks.map((address) => `${new URL(address).origin}/…`),
    secrets: Object.fromEntries(Object.keys(SECRET_VARIABLES).map((name) => [name, set.has(name) ? 'set' : 'unset'])),
  };
}
