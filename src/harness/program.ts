import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { FactoryError } from '../support/errors.ts';

async function runs(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/**
 * The absolute path of a program: as given when it is a path, else looked up on the orchestrator's PATH.
 * @throws FactoryError `harness/cannot-start` when there is none that may be run.
 */
export async function findProgram(file: string, path = process.env.PATH ?? ''): Promise<string> {
  const named = isAbsolute(file) || file.includes('/');
  const places = named ? [resolve(file)] : path.split(delimiter).map((folder) => resolve(join(folder || '.', file)));
  for (const place of places) if (await runs(place)) return place;
  throw new FactoryError('harness/cannot-start', {
    message: named ? `${file} is not there or may not be run` : `\`${file}\` is not on the PATH`,
    mend: `Install ${file}, or say where it is (ZOT_PATH for zot); \`machinery doctor\` checks it.`,
    data: { file },
  });
}
