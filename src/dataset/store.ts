import { lstat, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { requireId } from '../session/chain.ts';
import { ID_PATTERN, compareIds } from '../support/ids.ts';
import { type ExportOptions, UNFINISHED, exportTrajectory } from '../trajectory/export.ts';
import type { MachineryBlock } from '../trajectory/machinery.ts';
import type { TrajectoryFacts } from '../trajectory/types.ts';
import { Outbox } from './outbox.ts';
import { Quarantine } from './quarantine.ts';
import { RowIndex } from './row-index.ts';
import { type RowSummary, summarise } from './summary.ts';

/**
 * The local store of rows: `trajectories/<id>/<id>.jsonl` and its images, and an index file beside them. It is the truth:
 * what the hub has is a copy. A row is written whole or not at all and never changes, except when a secret is taken out.
 */
export class DatasetStore {
  readonly folder: string;
  readonly #index: RowIndex;

  /** @param folder `<data>/dataset`; it is made when the first row is put. The outbox is beside it. */
  constructor(folder: string) {
    this.folder = folder;
    this.#index = new RowIndex(this);
  }

  /** The folder that holds a folder a row. */
  get trajectories(): string {
    return join(this.folder, 'trajectories');
  }

  /** A row's folder. @throws FactoryError `session/invalid-id`. */
  rowFolder(id: string): string {
    return join(this.trajectories, requireId(id));
  }

  /** A row's file. @throws FactoryError `session/invalid-id`. */
  rowPath(id: string): string {
    return join(this.rowFolder(id), `${id}.jsonl`);
  }

  async has(id: string): Promise<boolean> {
    return (await lstat(this.rowPath(id)).catch(() => null))?.isFile() ?? false;
  }

  /** Whether this session's row was made already: it is here, or held because of what is in it. */
  async made(id: string): Promise<boolean> {
    return (await this.has(id)) || new Quarantine(dirname(this.folder)).has(id);
  }

  /**
   * Renders a session's chain as a row of the store and puts it in the outbox. Putting the same row again changes nothing.
   * @param machinery makes the `machinery` block once the trajectory is known.
   * @throws FactoryError as `exportTrajectory` does; `row/different` when the store has another row of this id.
   */
  async put(sessions: string, id: string, machinery?: ExportOptions['machinery']): Promise<TrajectoryFacts> {
    let block: MachineryBlock | undefined;
    await mkdir(this.trajectories, { recursive: true, mode: 0o700 });
    // The marker comes first: a crash between the two leaves a marker without a row, which is nothing, and never a row
    // that nobody sends.
    await new Outbox(dirname(this.folder)).add(id);
    const facts = await exportTrajectory({
      sessions,
      id,
      out: this.trajectories,
      machinery: (known) => {
        const made = machinery?.(known);
        // Every row of the store says how often the model looked; the shift need not pass it on.
        block = made && { ...made, shift: { looked: known.looked, ...made.shift } };
        return block;
      },
    });
    await this.#index.add(summarise(facts, block, (await stat(this.rowPath(id))).size));
    return facts;
  }

  /** Ids of the rows, oldest first. */
  async ids(): Promise<string[]> {
    const entries = await readdir(this.trajectories, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const rows = entries.filter((entry) => entry.isDirectory() && ID_PATTERN.test(entry.name));
    return rows.map((entry) => entry.name).sort(compareIds);
  }

  /** What the index knows of every row, oldest first; rows it does not know are read and added. */
  async list(): Promise<RowSummary[]> {
    return this.#index.list(await this.ids());
  }

  /** Reads a row again that was changed in place, so that the index tells the truth of it. */
  async refresh(id: string): Promise<void> {
    await this.#index.refresh(id);
  }

  /** Removes what a process that died while it made a row left behind. Only for whoever holds the data folder's lock. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.trajectories).catch(() => [] as string[])) {
      if (UNFINISHED.test(name)) await rm(join(this.trajectories, name), { recursive: true, force: true });
    }
  }
}
