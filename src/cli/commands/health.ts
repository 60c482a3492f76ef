import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { FactoryError } from '../../support/errors.ts';

const PATIENCE_MS = 5000;

/** `machinery health`: does the factory that runs here answer? For a container's health check. */
export function register(program: Command): void {
  program
    .command('health')
    .description("ask the running factory's control room whether all is well; exit 0 when it is")
    .addHelpText(
      'after',
      `
Asks /healthz at console.port on loopback. Exit code: 0 healthy, 1 not, or nobody answers.

Examples:
  machinery health
  docker compose exec machinery machinery health`,
    )
    .action(async () => {
      const { console: room } = await loadConfig();
      const address = `http://127.0.0.1:${room.port}/healthz`;
      const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch((error: unknown) => {
        throw new FactoryError('factory/unhealthy', {
          message: `no factory answers at ${address}`,
          mend: 'Start one with `machinery start`; if one runs, its log says what it is doing.',
          cause: error,
        });
      });
      const text = (await response.text()).trim();
      if (!response.ok) {
        throw new FactoryError('factory/unhealthy', {
          message: `the factory at ${address} says ${response.status}: ${text.slice(0, 500)}`,
          mend: 'Read its log; `machinery doctor` looks at everything it needs.',
        });
      }
      process.stdout.write(`${text || 'ok'}\n`);
    });
}
