import { randomBytes } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { type Config, secretOf } from '../config/load.ts';
import { consoleTokenFile } from '../config/secrets.ts';
import { FactoryError } from '../support/errors.ts';
import { writeFileDurable } from '../support/files.ts';

/** Bytes of randomness in a token that we make: 192 bits, 32 characters of base64url. */
const BYTES = 24;
/** A token that somebody chose must have at least so many characters: the control room starts shifts that cost money. */
export const SHORTEST_TOKEN = 16;

/**
 * The console's token: `MACHINERY_CONSOLE_TOKEN`, else the one kept in the data folder (mode 0600, hidden from the agent as
 * the whole folder is), which is made when it is asked for first.
 * @throws FactoryError `console/token` when the one that was set is too short.
 */
export async function consoleToken(config: Pick<Config, 'data' | 'secrets'>): Promise<string> {
  const set = secretOf(config, 'MACHINERY_CONSOLE_TOKEN');
  if (set !== undefined) return longEnough(set, 'MACHINERY_CONSOLE_TOKEN');
  const file = consoleTokenFile(config.data);
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '') {
    // Somebody may have restored it from a backup with another mode.
    await chmod(file, 0o600).catch(() => {});
    return longEnough(kept, file);
  }
  const made = randomBytes(BYTES).toString('base64url');
  await writeFileDurable(file, `${made}\n`);
  return made;
}

function longEnough(token: string, where: string): string {
  if (token.length >= SHORTEST_TOKEN) return token;
  throw new FactoryError('console/token', {
    message: `the console token in ${where} has fewer than ${SHORTEST_TOKEN} characters`,
    mend: `Set a longer one, or remove it: the factory makes one, and \`machinery console-token\` shows it.`,
  });
}
