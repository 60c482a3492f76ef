import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One thing that somebody did from the control room. */
export interface Act {
  at: string;
  /** Name and address. */
  by: string;
  act: string;
  /** What it was done to, and how it ended. */
  what: string;
}

/** `acts.ndjson` in the data folder: who did what and when, a line an act. */
export class ActLog {
  readonly #path: string;

  constructor(data: string) {
    this.#path = join(data, 'acts.ndjson');
  }

  async add(by: string, act: string, what: string): Promise<void> {
    const entry: Act = { at: new Date().toISOString(), by, act, what };
    await appendFile(this.#path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  }

  /** The last acts, newest first. A half-written line is left out. */
  async last(most: number): Promise<Act[]> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    return text
      .split('\n')
      .slice(-most - 1)
      .flatMap((line) => {
        try {
          return line === '' ? [] : [JSON.parse(line) as Act];
        } catch {
          return [];
        }
      })
      .reverse();
  }
}
