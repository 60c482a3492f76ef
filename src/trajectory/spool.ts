import { type FileHandle, open, unlink } from 'node:fs/promises';

const BLOCK = 1024 * 1024;
const COPIED = 4 * 1024 * 1024;

/**
 * Text on its way to a file, held back until there is a block of it. A row is far larger than what should be in memory,
 * so what is rendered goes to the disk at once and is later copied from there.
 */
export class Spool {
  readonly #file: FileHandle;
  #parts: string[] = [];
  #held = 0;
  #length = 0;
  #buffers: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Makes the file, which must not be there; mode 0600. */
  static async create(path: string): Promise<Spool> {
    return new Spool(await open(path, 'wx+', 0o600));
  }

  /** Makes a file that has no name any more: it is gone when it is closed, however this process ends. */
  static async scratch(path: string): Promise<Spool> {
    const spool = await Spool.create(path);
    await unlink(path);
    return spool;
  }

  /** Adds text. Call `drain` now and then: nothing is written before. */
  push(text: string): void {
    this.#parts.push(text);
    this.#held += text.length;
  }

  /** Whether there is a block to write. */
  get full(): boolean {
    return this.#held >= BLOCK;
  }

  /** Writes what is held when it is a block or more. */
  async drain(): Promise<void> {
    if (this.full) await this.flush();
  }

  /**
   * Begins to write all that is held; the next call that needs the disk waits for it, and tells if it failed.
   * @returns the file's length in bytes once it is written.
   */
  async flush(): Promise<number> {
    if (this.#held === 0) return this.#length;
    const parts = this.#parts;
    // UTF-8 takes at most three bytes for one of a string's units.
    const room = this.#held * 3;
    this.#parts = [];
    this.#held = 0;
    // Two buffers by turns: one is filled while the other is on its way. New ones would pile up uncollected.
    const [first, second] = this.#buffers;
    const buffer = second.length < room ? Buffer.allocUnsafeSlow(room) : second;
    this.#buffers = [buffer, first];
    let length = 0;
    for (const part of parts) length += buffer.write(part, length);
    await this.#begin(buffer, length);
    return this.#length;
  }

  /** Goes back to a length: what was written after it is dropped. */
  async rewind(length: number): Promise<void> {
    this.#parts = [];
    this.#held = 0;
    await this.#writing;
    await this.#file.truncate(length);
    this.#length = length;
  }

  /** Appends another spool's bytes from `from` up to `to`; one block is read while the one before is written. */
  async copy(other: Spool, from: number, to: number): Promise<void> {
    await this.flush();
    await other.#settled();
    const blocks = [Buffer.allocUnsafeSlow(COPIED), Buffer.allocUnsafeSlow(COPIED)] as const;
    for (let at = from, turn = 0; at < to; turn += 1) {
      const block = blocks[turn % 2 === 0 ? 0 : 1];
      const { bytesRead } = await other.#file.read(block, 0, Math.min(COPIED, to - at), at);
      if (bytesRead === 0) throw new Error('a spool ended before its own length');
      await this.#begin(block, bytesRead);
      at += bytesRead;
    }
    await this.#writing;
  }

  /** Flushes to the disk itself. */
  async sync(): Promise<void> {
    await this.#settled();
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#file.close();
  }

  async #settled(): Promise<void> {
    await this.flush();
    await this.#writing;
  }

  /** Waits for the write before, and begins this one at the end of the file. */
  async #begin(bytes: Buffer, length: number): Promise<void> {
    await this.#writing;
    const at = this.#length;
    this.#length += length;
    this.#writing = this.#write(bytes, length, at);
    // Whoever waits for it hears of a failure; until then it must not end the process.
    this.#writing.catch(() => {});
  }

  async #write(bytes: Buffer, length: number, at: number): Promise<void> {
    for (let done = 0; done < length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, length - done, at + done);
      done += bytesWritten;
    }
  }
}
