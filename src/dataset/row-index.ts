import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurable } from '../support/files.ts';
import { readSummary } from './row-reader.ts';
import type { RowSummary } from './summary.ts';

const SHAPE: Record<string, string[]> = {
  string: ['id', 'model', 'provider', 'driver', 'started', 'ended', 'outcome'],
  object: ['chain', 'counts', 'looked', 'tokens'],
  number: ['bytes'],
  boolean: ['complete', 'truncated'],
};

/** Whether a line of the index says all that is asked of it: another version, or somebody else, may have written it. */
function isSummary(value: unknown): value is RowSummary {
  const line = value as Record<string, unknown> | null;
  if (typeof line !== 'object' || line === null || !Array.isArray(line.chain)) return false;
  const right = Object.entries(SHAPE).every(([type, keys]) =>
    keys.every((key) => typeof line[key] === type && line[key] !== null),
  );
  const landing = line.machinery as { findings?: unknown } | null | undefined;
  return right && (landing === undefined || (typeof landing?.findings === 'object' && landing.findings !== null));
}

/** The part of the store that the index needs. */
interface Rows {
  readonly folder: string;
  rowPath(id: string): string;
}

/**
 * `index.ndjson` beside the rows: a line a row, the last line of an id being the true one. It can be deleted: whatever is
 * missing is read from the rows and written again, and a line whose row is gone is not told.
 */
export class RowIndex {
  readonly #rows: Rows;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  get #path(): string {
    return join(this.#rows.folder, 'index.ndjson');
  }

  /** Adds a row, or replaces what is known of it. */
  async add(summary: RowSummary): Promise<void> {
    // A line that was cut by a crash is closed by the newline before; a blank line is nothing.
    await appendFile(this.#path, `\n${JSON.stringify(summary)}\n`, { mode: 0o600 });
  }

  async refresh(id: string): Promise<void> {
    await this.add(await readSummary(this.#rows.rowPath(id)));
  }

  /** Summaries of these rows, in the order given. A row that cannot be read is left out. */
  async list(ids: string[]): Promise<RowSummary[]> {
    const { known, lines } = await this.#read();
    const summaries: RowSummary[] = [];
    let added = 0;
    for (const id of ids) {
      let summary = known.get(id);
      if (summary === undefined) {
        summary = await readSummary(this.#rows.rowPath(id)).catch(() => undefined);
        if (summary) added += 1;
      }
      if (summary) summaries.push(summary);
    }
    // Written anew when it lacks rows, or is mostly lines that say nothing any more.
    if (added > 0 || lines > 2 * summaries.length + 100) await this.#write(summaries);
    return summaries;
  }

  async #write(summaries: RowSummary[]): Promise<void> {
    const text = summaries.map((summary) => `${JSON.stringify(summary)}\n`).join('');
    // Listing works on a read-only folder too; the index is only a shortcut.
    await writeFileDurable(this.#path, text).catch(() => {});
  }

  async #read(): Promise<{ known: Map<string, RowSummary>; lines: number }> {
    const known = new Map<string, RowSummary>();
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    for (const line of lines) {
      try {
        const summary = JSON.parse(line) as unknown;
        if (isSummary(summary)) known.set(summary.id, summary);
      } catch {
        // A half-written line: its row is read again.
      }
    }
    return { known, lines: lines.length };
  }
}
