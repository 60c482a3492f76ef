import { type FileHandle, open, unlink } from 'node:fs/promises';

const BLOCK = 1024 * 1024;
/** Parts are joined when they come to so many characters: few joins, and none so long that it is dear to collect. */
const JOINED = 32 * 1024;
/** A part of so many is put into the buffer by itself: joining it first would copy it once more. */
const ALONE = 1024;
const COPIED = 4 * 1024 * 1024;
/** So much is handed to the disk at once while more is made: all of it at the end would be waited for. */
const SYNCED = 16 * 1024 * 1024;

/**
 * Text on its way to a file, held back until there is a block of it. A row is far larger than what should be in memory,
 * so what is rendered goes to the disk at once and is later copied from there.
 */
export class Spool {
  readonly #file: FileHandle;
  #parts: string[] = [];
  #held = 0;
  #filled = 0;
  #length = 0;
  #buffers: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];
  #writing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> = Promise.resolve();
  #unsynced: number;

  /** @param unsynced bytes that count as written and not yet on the disk; of a file that need not be there, less than any. */
  private constructor(file: FileHandle, unsynced = 0) {
    this.#file = file;
    this.#unsynced = unsynced;
  }

  /** Makes the file, which must not be there; mode 0600. */
  static async create(path: string): Promise<Spool> {
    return new Spool(await open(path, 'wx+', 0o600));
  }

  /** Makes a file that has no name any more: it is gone when it is closed, however this process ends. */
  static async scratch(path: string): Promise<Spool> {
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new Spool(file, Number.NEGATIVE_INFINITY);
  }

  /** Adds text. Call `drain` now and then: nothing is written before. */
  push(text: string): void {
    if (text.length >= ALONE) {
      this.#join();
      this.#encode(text);
      return;
    }
    this.#parts.push(text);
    this.#held += text.length;
    if (this.#held >= JOINED) this.#join();
  }

  /** Whether there is a block to write. */
  get full(): boolean {
    return this.#filled >= BLOCK;
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
    this.#join();
    if (this.#filled === 0) return this.#length;
    // Two buffers by turns: one is filled while the other is on its way. New ones would pile up uncollected.
    const [buffer, other] = this.#buffers;
    const length = this.#filled;
    await this.#begin(buffer, length);
    this.#buffers = [other, buffer];
    this.#filled = 0;
    return this.#length;
  }

  /** Puts the parts into the buffer as one string: that is far faster than one by one. */
  #join(): void {
    if (this.#held === 0) return;
    this.#encode(this.#parts.join(''));
    this.#parts = [];
    this.#held = 0;
  }

  #encode(text: string): void {
    // UTF-8 takes at most three bytes for one of a string's units.
    const room = this.#filled + text.length * 3;
    const [buffer, other] = this.#buffers;
    if (buffer.length < room) {
      const larger = Buffer.allocUnsafeSlow(Math.max(room, BLOCK + 4 * JOINED));
      buffer.copy(larger, 0, 0, this.#filled);
      this.#buffers = [larger, other];
    }
    this.#filled += this.#buffers[0].write(text, this.#filled);
  }

  /** Goes back to a length: what was written after it is dropped. */
  async rewind(length: number): Promise<void> {
    this.#parts = [];
    this.#held = 0;
    this.#filled = 0;
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
    await this.#syncing;
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#syncing]);
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
    this.#unsynced += length;
    if (this.#unsynced < SYNCED) return;
    this.#unsynced = 0;
    // The kernel tells a failure once, to whoever flushes first: it is kept for `sync`.
    this.#syncing = this.#syncing.then(() => this.#file.datasync());
    this.#syncing.catch(() => {});
  }
}
