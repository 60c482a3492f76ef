import type { Command } from 'commander';

interface Flags {
  dryRun?: boolean;
  redact?: string;
  json?: boolean;
}

/** `machinery ship`: sends the rows that wait, by hand. */
export function register(program: Command): void {
  program
    .command('ship')
    .description('send the rows that wait in the outbox to the hub dataset')
    .option('--dry-run', 'look through the rows and ask the hub, but send nothing and move nothing')
    .option('--redact <id>', 'first take the secrets out of a row that is held in quarantine')
    .option('--json', 'print what happened as JSON')
    .addHelpText(
      'after',
      `
Examples:
  machinery ship --dry-run
  machinery ship
  machinery ship --redact 20260504-120000

Exit status: 0 when all went or nothing is to be sent, 1 when rows wait because of trouble or are held in quarantine.`,
    )
    .action(async (flags: Flags) => {
      const { loadConfig, secretOf } = await import('../../config/load.ts');
      const { ship } = await import('../../dataset/ship.ts');
      const config = await loadConfig();
      const secrets = config.secrets.map(({ value }) => value);
      const say = (text: string): void => void process.stderr.write(`${text}\n`);
      if (flags.redact !== undefined && !flags.dryRun) {
        const { redactRow } = await import('../../dataset/redact-row.ts');
        const counts = await redactRow(config.data, flags.redact, secrets);
        for (const [rule, count] of Object.entries(counts)) say(`${flags.redact}: ${count} taken out (${rule})`);
      }
      const { repo, endpoint } = config.dataset.hub;
      const token = secretOf(config, 'HF_TOKEN');
      const result = await ship({
        data: config.data,
        repo: repo ?? null,
        ...(endpoint ? { endpoint } : {}),
        ...(token ? { token } : {}),
        secrets,
        private: config.dataset.hub.private,
        normalised: config.dataset.normalised,
        dryRun: flags.dryRun ?? false,
      });
      if (flags.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
      else {
        for (const id of result.shipped) process.stdout.write(`${id} shipped\n`);
        for (const id of result.waiting) process.stdout.write(`${id} waits\n`);
        for (const { id, rule, place } of result.quarantined) {
          process.stdout.write(`${id} held in quarantine: ${rule} in ${place}\n`);
        }
        if (repo === undefined) say('No hub dataset is configured (dataset.hub.repo): rows stay in the local store.');
        if (result.card === 'refreshed') say('The card was written anew.');
        if (result.card === 'edited') {
          say('The card on the hub was edited by hand and is left as it is; `machinery card` prints what it would be.');
        }
        if (result.trouble) say(`${result.trouble.message}\n${result.trouble.mend}`);
      }
      if (result.trouble || result.quarantined.length > 0) process.exitCode = 1;
    });
}
