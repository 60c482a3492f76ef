import type { FileHandle } from 'node:fs/promises';
import { parseLine } from '../session/line.ts';
import { listSessions, logPath } from '../session/read.ts';
import { LONGEST_LINE, openRegular } from '../session/scan.ts';
import type { SessionLine, SessionResult } from '../session/types.ts';

const CHUNK = 256 * 1024;
const EVERY = 250;

/** Who hears of a log: `line` gets each line; `unlock` is asked once per log that may not be read yet. */
export interface TailWatch {
  line: (line: SessionLine) => void;
  unlock?: () => Promise<void>;
}

/** What a run's log came to: its id, or null when none appeared, and its result, when it has one. */
export interface LogEnd {
  session: string | null;
  result: SessionResult | null;
}

/**
 * Follows the log that a run writes: the newest one in the session folder that was not there before. It is found and
 * read by polling, a chunk at a time, because the folder is the agent's and nothing in it can be relied upon; a line is
 * handed on when its newline is there.
 */
export class SessionTail {
  readonly #folder: string;
  readonly #watcher: TailWatch;
  readonly #before: Set<string>;
  #session: string | null = null;
  #result: SessionResult | null = null;
  #offset = 0;
  #held: Buffer[] = [];
  #size = 0;
  #skipping = false;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();

  private constructor(folder: string, before: string[], watcher: TailWatch) {
    this.#folder = folder;
    this.#before = new Set(before);
    this.#watcher = watcher;
  }

  /** Remembers which logs are there, then watches. Call before the harness starts. */
  static async open(folder: string, watcher: TailWatch): Promise<SessionTail> {
    const tail = new SessionTail(folder, await listSessions(folder), watcher);
    tail.#watch();
    return tail;
  }

  #watch(): void {
    this.#timer = setTimeout(() => {
      // What goes wrong while the run goes on (a file not readable yet) is tried again; at the end it counts.
      this.#turn = this.#read()
        .catch(() => {})
        .then(() => this.#watch());
    }, EVERY);
  }

  /** Stops watching, reads what is left, a half-written last line too, and says what the log came to. */
  async finish(): Promise<LogEnd> {
    await this.stop();
    await this.#read().catch((error: NodeJS.ErrnoException) => {
      // A log that vanished, or is a link or a pipe by now, is no log: the run wrote none.
      if (!['ENOENT', 'ELOOP', 'EINVAL', 'ENXIO'].includes(error.code ?? '')) throw error;
      this.#session = null;
    });
    if (this.#held.length > 0 && !this.#skipping) this.#take(Buffer.concat(this.#held));
    return { session: this.#session, result: this.#result };
  }

  /** Stops watching. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#turn;
    clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    const newest = (await listSessions(this.#folder)).filter((id) => !this.#before.has(id)).at(-1);
    if (newest === undefined) return;
    if (newest !== this.#session) {
      this.#session = newest;
      this.#result = null;
      this.#offset = 0;
      this.#forget();
    }
    const file = await this.#openLog(logPath(this.#folder, newest));
    try {
      await this.#readOn(file);
    } finally {
      await file.close();
    }
  }

  async #openLog(path: string): Promise<FileHandle> {
    return openRegular(path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EACCES' || !this.#watcher.unlock) throw error;
      await this.#watcher.unlock();
      return openRegular(path);
    });
  }

  async #readOn(file: FileHandle): Promise<void> {
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1 && end < bytesRead; end = chunk.indexOf(10, from)) {
        if (!this.#skipping) this.#take(Buffer.concat([...this.#held, chunk.subarray(from, end)]));
        this.#forget();
        from = end + 1;
      }
      this.#hold(chunk.subarray(from, bytesRead));
    }
  }

  #hold(rest: Buffer): void {
    this.#size += rest.length;
    if (this.#size > LONGEST_LINE) {
      this.#skipping = true;
      this.#held = [];
    } else if (rest.length > 0) this.#held.push(Buffer.from(rest));
  }

  #forget(): void {
    this.#held = [];
    this.#size = 0;
    this.#skipping = false;
  }

  #take(bytes: Buffer): void {
    const line = parseLine(bytes.toString('utf8'));
    if (!line) return;
    if (line.kind === 'result') this.#result = line.result;
    this.#watcher.line(line);
  }
}
