import { lstat, mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requireId } from '../session/chain.ts';
import { syncFolder, writeFileDurable } from '../support/files.ts';
import { ID_PATTERN, compareIds } from '../support/ids.ts';
import type { Hit } from './scan.ts';

const HELD = 'held.json';

/** Why a row is held: the rules and the places, never the secret. */
export interface Held {
  id: string;
  /** RFC 3339. */
  at: string;
  hits: Hit[];
}

/** The rows that must not leave: `quarantine/<id>/` holds the row's folder as it was, and `held.json` with the reason. */
export class Quarantine {
  readonly #folder: string;

  /** @param data the data folder. */
  constructor(data: string) {
    this.#folder = join(data, 'quarantine');
  }

  /** Where a held row is. @throws FactoryError `session/invalid-id`. */
  rowFolder(id: string): string {
    return join(this.#folder, requireId(id));
  }

  async has(id: string): Promise<boolean> {
    return (await lstat(join(this.rowFolder(id), `${id}.jsonl`)).catch(() => null)) !== null;
  }

  /** Moves a row's folder here. The row that may be held under this id already is the same session's, and is replaced. */
  async hold(id: string, from: string, hits: Hit[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const target = this.rowFolder(id);
    const held: Held = { id, at: new Date().toISOString(), hits };
    await writeFileDurable(join(from, HELD), `${JSON.stringify(held, null, 2)}\n`);
    await rm(target, { recursive: true, force: true });
    await rename(from, target);
    await syncFolder(this.#folder);
  }

  /** What is held, oldest first. */
  async list(): Promise<Held[]> {
    const names = await readdir(this.#folder).catch(() => [] as string[]);
    const held: Held[] = [];
    for (const id of names.filter((name) => ID_PATTERN.test(name)).sort(compareIds)) {
      const text = await readFile(join(this.#folder, id, HELD), 'utf8').catch(() => null);
      if (text === null) continue;
      try {
        held.push(JSON.parse(text) as Held);
      } catch {
        held.push({ id, at: '', hits: [] });
      }
    }
    return held;
  }

  async drop(id: string): Promise<void> {
    await rm(this.rowFolder(id), { recursive: true, force: true });
  }
}
