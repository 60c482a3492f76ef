import { type FileHandle, open } from 'node:fs/promises';

const BLOCK = 1024 * 1024;

/**
 * Text on its way to a file, held back until there is a block of it. A row is far larger than what should be in memory,
 * so what is rendered goes to the disk at once and is later copied from there.
 */
export class Spool {
  readonly #file: FileHandle;
  #parts: string[] = [];
  #held = 0;
  #position = 0;
  #buffer = Buffer.alloc(0);

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Makes the file, which must not be there; mode 0600. */
  static async create(path: string): Promise<Spool> {
    return new Spool(await open(path, 'wx+', 0o600));
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

  /** Writes all that is held. @returns the file's length in bytes. */
  async flush(): Promise<number> {
    if (this.#held > 0) {
      // One buffer for all of them: a new one each time would pile up faster than it is collected. UTF-8 takes at most
      // three bytes for one of a string's units.
      const room = this.#held * 3;
      if (this.#buffer.length < room) this.#buffer = Buffer.allocUnsafeSlow(room);
      let length = 0;
      for (const part of this.#parts) length += this.#buffer.write(part, length);
      this.#parts = [];
      this.#held = 0;
      await this.#write(this.#buffer, length);
    }
    return this.#position;
  }

  /** Goes back to a length: what was written after it is dropped. */
  async rewind(length: number): Promise<void> {
    this.#parts = [];
    this.#held = 0;
    await this.#file.truncate(length);
    this.#position = length;
  }

  /** Appends another spool's bytes from `from` up to `to`. */
  async copy(other: Spool, from: number, to: number): Promise<void> {
    await this.flush();
    const block = Buffer.allocUnsafe(BLOCK);
    for (let at = from; at < to; ) {
      const { bytesRead } = await other.#file.read(block, 0, Math.min(BLOCK, to - at), at);
      if (bytesRead === 0) throw new Error('a spool ended before its own length');
      await this.#write(block, bytesRead);
      at += bytesRead;
    }
  }

  /** Flushes to the disk itself. */
  async sync(): Promise<void> {
    await this.flush();
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(bytes: Buffer, length: number): Promise<void> {
    for (let done = 0; done < length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, length - done, this.#position);
      done += bytesWritten;
      this.#position += bytesWritten;
    }
  }
}
