import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { FactoryError } from '../../support/errors.ts';

const PATIENCE_MS = 5000;

/** `machinery health`: does the factory that runs here answer? For a container's health check. */
export function register(program: Command): void {
  program
    .command('health')
    .description('ask the running factory whether all is well; exit 0 when it is')
    .addHelpText(
      'after',
      `
Asks over the factory's socket in the data folder, so it works wherever the control room listens; /healthz of the control
room says the same. Exit code: 0 healthy, 1 not, or nobody answers within ${PATIENCE_MS / 1000} s.

Examples:
  machinery health
  docker compose exec machinery machinery health`,
    )
    .action(async () => {
      const { askFactory } = await import('../../factory/control-client.ts');
      const { healthOf } = await import('../../factory/health.ts');
      const { data } = await loadConfig();
      const status = await askFactory(data, 'GET', '/status', AbortSignal.timeout(PATIENCE_MS)).catch((error) => {
        throw new FactoryError('factory/unhealthy', {
          message: `no factory answers on ${data}`,
          mend: 'Start one with `machinery start`; if one runs, its log says what it is doing.',
          cause: error,
        });
      });
      const { ok, state } = healthOf(status);
      if (!ok) {
        throw new FactoryError('factory/unhealthy', {
          message: `the factory on ${data} is ${state}, and its schedule has no next time though nobody paused it`,
          mend: 'Start it anew; `machinery doctor` looks at its schedule and everything else it needs.',
        });
      }
      process.stdout.write(`ok: ${state}\n`);
    });
}
