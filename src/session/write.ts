import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, writeFileDurable } from '../support/files.ts';
import { claimId, idOf } from '../support/ids.ts';
import { blobName, blobsFolder, imageBytes, sha256 } from './blobs.ts';
import { logPath } from './read.ts';
import type { SessionEvent, SessionImage, SessionLine, SessionMessage, SessionMeta, SessionResult } from './types.ts';

/** What is known of an image beside its bytes. */
export type ImageFacts = Pick<SessionImage, 'width' | 'height' | 'origin' | 'detail' | 'tokens'>;

type Unstamped<T> = T extends unknown ? Omit<T, 'at'> : never;

/**
 * A session log being written: one line a record, appended and flushed to the disk before the call returns, in the order
 * of the calls. A log is readable while the run goes, and a killed run leaves everything up to its last whole line.
 */
export class SessionLog {
  readonly id: string;
  readonly path: string;
  readonly #dir: string;
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();
  #torn = false;
  #closed = false;

  private constructor(dir: string, id: string, file: FileHandle) {
    this.#dir = dir;
    this.id = id;
    this.path = logPath(dir, id);
    this.#file = file;
  }

  /**
   * Claims a new log `<id>.jsonl` in a folder (made with mode 0700 when missing; the file has mode 0600) and writes its
   * meta line. The id is the UTC second of `now`, with `-2`, `-3`… when taken; no two processes can claim the same.
   */
  static async create(dir: string, meta: Omit<SessionMeta, 'id'>, now: Date = new Date()): Promise<SessionLog> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    let file: FileHandle | undefined;
    const id = await claimId(idOf(now), async (wanted) => {
      file = await open(logPath(dir, wanted), 'ax', 0o600);
    });
    const log = new SessionLog(dir, id, file as FileHandle);
    await syncFolder(dir);
    await log.#append({ kind: 'meta', meta: { id, ...meta } });
    return log;
  }

  /** Records an entry of the conversation. */
  message(message: SessionMessage): Promise<void> {
    return this.#append({ kind: 'message', message });
  }

  /** Records something that happened and is no part of the conversation. */
  event(event: SessionEvent): Promise<void> {
    return this.#append({ kind: 'event', event });
  }

  /** Discards the conversation so far: what is recorded next replaces it. */
  reset(): Promise<void> {
    return this.#append({ kind: 'reset' });
  }

  /** Records how the run ended; the last line. */
  result(result: SessionResult): Promise<void> {
    return this.#append({ kind: 'result', result });
  }

  /**
   * Keeps an image's bytes beside the log, named by their hash, and returns what a message carries instead of them.
   * The bytes are on the disk before the call returns, so a message never names an image that a crash could lose.
   */
  async putImage(bytes: Uint8Array, mediaType: string, more: ImageFacts = {}): Promise<SessionImage> {
    const image: SessionImage = {
      media_type: mediaType,
      digest: `sha256:${sha256(bytes)}`,
      size: bytes.length,
      ...more,
      source: 'blob',
    };
    await writeFileDurable(join(blobsFolder(this.#dir, this.id), blobName(image) as string), bytes);
    return image;
  }

  /**
   * Copies the images of the session that this one continues into its own blobs folder, so that a log stays whole when
   * an older one is deleted. An image whose bytes are lost is left: its text stays in the conversation.
   */
  async adoptImages(fromSession: string, images: SessionImage[]): Promise<void> {
    const kept = new Set<string>();
    for (const image of images) {
      const name = blobName(image);
      // Inline images travel in their own line.
      if (name === null || image.data !== undefined || kept.has(name)) continue;
      kept.add(name);
      const bytes = await imageBytes(this.#dir, fromSession, image);
      if (bytes) await writeFileDurable(join(blobsFolder(this.#dir, this.id), name), bytes);
    }
  }

  /** Waits for what was recorded and lets go of the file. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last.catch(() => {});
    await this.#file.close();
  }

  #append(line: Unstamped<SessionLine>): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`the session log ${this.id} is closed`));
    const { kind, ...payload } = line;
    // The text is made now, not when its turn comes: the caller may change the object afterwards.
    const text = `${JSON.stringify({ kind, at: new Date().toISOString(), ...payload })}\n`;
    const written = this.#last.catch(() => {}).then(() => this.#write(text));
    this.#last = written;
    // The caller awaits the same promise; this only keeps a failure nobody awaited from ending the process.
    written.catch(() => {});
    return written;
  }

  async #write(text: string): Promise<void> {
    // A line that a full disk cut in half is closed first: it costs itself, never the line after it.
    const torn = this.#torn;
    this.#torn = true;
    await this.#file.appendFile(torn ? `\n${text}` : text);
    await this.#file.sync();
    this.#torn = false;
  }
}
