import { mkdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurable } from '../../support/files.ts';
import { isHeld, lockHolder } from '../../support/lock.ts';
import { type Examiner, broken, ok, warning } from '../examination.ts';

const GB = 1e9;
const told = (bytes: number) => `${(bytes / GB).toFixed(1)} GB`;

/** The data folder: can be written, has space, is shut to others; and who works on it. */
export const data: Examiner = {
  name: 'data',
  async look({ config: { data: folder, disk_floor: floor } }) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const trial = join(folder, `.doctor-${process.pid}`);
    await writeFileDurable(trial, 'written to see whether it can be\n');
    await rm(trial);

    const holder = (await isHeld(folder)) ? await lockHolder(folder) : null;
    const user = holder ? `; process ${holder.pid} on ${holder.host} works on it since ${holder.since}` : '';
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const seen = `${folder} is writable, ${told(free)} free${user}`;
    const mend =
      'Free some space, or shorten retention in factory.yaml (docs/operating.md says what is safe to delete).';
    if (free < floor) return broken(`${seen}: under the floor of ${told(floor)}, no shift starts`, mend);
    if (free < 2 * floor) return warning(`${seen}: close to the floor of ${told(floor)}`, mend);
    // While a shift runs under `sandbox: user` its group may pass through the folder.
    if (((await stat(folder)).mode & 0o067) !== 0)
      return warning(`${seen}, but others can read it`, `chmod 0700 ${folder}`);
    return ok(seen);
  },
};
