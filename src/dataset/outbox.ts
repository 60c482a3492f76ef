import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requireId } from '../session/chain.ts';
import { writeFileDurable } from '../support/files.ts';
import { ID_PATTERN, compareIds } from '../support/ids.ts';

/** Said by a marker whose row was looked through for secrets once. */
const SCANNED = 'scanned\n';
const WAIT = 'wait';

/**
 * The rows that wait for the hub: a file `outbox/<id>` a row, which goes when the hub has it. Nothing else is kept of what
 * was sent: whether the hub has a row is asked there, so a lost marker or a crash can send a row again but never twice.
 */
export class Outbox {
  readonly #folder: string;

  /** @param data the data folder. */
  constructor(data: string) {
    this.#folder = join(data, 'outbox');
  }

  /** Puts a row in the outbox. One that waits already stays as it is. */
  async add(id: string): Promise<void> {
    if (!(await this.ids()).includes(requireId(id))) await writeFileDurable(join(this.#folder, id), '');
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#folder, requireId(id)), { force: true });
  }

  /** Ids of the rows that wait, oldest first. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => ID_PATTERN.test(name)).sort(compareIds);
  }

  async scanned(id: string): Promise<boolean> {
    return (await readFile(join(this.#folder, requireId(id)), 'utf8').catch(() => '')) === SCANNED;
  }

  async markScanned(id: string): Promise<void> {
    await writeFileDurable(join(this.#folder, requireId(id)), SCANNED);
  }

  /** Until when the hub asked to be left alone; null when it did not, or that has passed. */
  async waitUntil(now: Date = new Date()): Promise<Date | null> {
    const until = new Date((await readFile(join(this.#folder, WAIT), 'utf8').catch(() => '')).trim());
    return until > now ? until : null;
  }

  async wait(until: Date): Promise<void> {
    await writeFileDurable(join(this.#folder, WAIT), `${until.toISOString()}\n`);
  }
}
