import { stat } from 'node:fs/promises';
import { SECRET_VARIABLES } from '../../config/secrets.ts';
import { type Examiner, ok, warning } from '../examination.ts';

/** Which secrets are set, and whether a file that holds one can be read by others: the agent's user is one of them. */
export const secrets: Examiner = {
  name: 'secrets',
  async look({ config }) {
    const isGiven = (name: string) => process.env[name] !== undefined || process.env[`${name}_FILE`] !== undefined;
    const names = [...new Set(config.secrets.map(({ name }) => name))];
    // The control room's token is made at the first start where none is given.
    const set = names.map((name) =>
      name === 'MACHINERY_CONSOLE_TOKEN' && !isGiven(name) ? `${name} (made here)` : name,
    );
    const files = [...Object.keys(SECRET_VARIABLES), 'MACHINERY_WEBHOOKS'].flatMap(
      (name) => process.env[`${name}_FILE`] ?? [],
    );
    const open: string[] = [];
    for (const file of files) {
      const mode = (await stat(file).catch(() => null))?.mode ?? 0;
      if ((mode & 0o004) !== 0) open.push(file);
    }
    const seen = set.length === 0 ? 'none is set' : `set: ${set.join(', ')}`;
    if (open.length === 0) return ok(seen);
    return warning(
      `${seen}; everybody may read ${open.join(', ')}`,
      `Shut it to others: chown it to the factory's user and chmod 0400.`,
    );
  },
};
