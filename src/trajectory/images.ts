import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { blobName, imageBytes } from '../session/blobs.ts';
import type { SessionImage } from '../session/types.ts';
import { syncFolder } from '../support/files.ts';

/** So many images may wait for the disk while the log is read on. */
const WAITING = 16;
/** So many are flushed together: one by one, each would wait for a commit of the disk's journal of its own. */
const TOGETHER = 32;

/** The images of a row being written: each is checked once a session, and kept once whoever showed it. */
export class RowImages {
  readonly #sessions: string;
  readonly #folder: string;
  readonly #present = new Map<string, boolean>();
  readonly #written = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #unflushed: FileHandle[] = [];
  #listed = new Set<string>();
  #after: ReadonlySet<string> = new Set();

  /** @param folder the row's folder; the images go to `images/` in it. */
  constructor(sessions: string, folder: string) {
    this.#sessions = sessions;
    this.#folder = folder;
  }

  /** Relative paths, in order of first appearance. */
  get list(): string[] {
    return [...new Set([...this.#listed, ...this.#after])];
  }

  /** Keeps a session's images. @returns the paths of those whose bytes are there and hash to their digest. */
  async take(session: string, images: SessionImage[]): Promise<string[]> {
    const paths: string[] = [];
    for (const image of images) {
      const name = blobName(image);
      if (name === null || !(await this.#keep(session, name, image))) continue;
      paths.push(`images/${name}`);
      this.#listed.add(`images/${name}`);
    }
    return paths;
  }

  async #keep(session: string, name: string, image: SessionImage): Promise<boolean> {
    const key = image.data === undefined ? `${session}/${name}` : null;
    const known = key === null ? undefined : this.#present.get(key);
    if (known !== undefined) return known;
    const bytes = await imageBytes(this.#sessions, session, image);
    if (key !== null) this.#present.set(key, bytes !== null);
    if (bytes === null) return false;
    if (this.#written.has(name)) return true;
    if (this.#written.size === 0) await mkdir(join(this.#folder, 'images'), { mode: 0o700 });
    this.#written.add(name);
    if (this.#waiting >= WAITING) await this.#writing;
    this.#write(join(this.#folder, 'images', name), bytes);
    return true;
  }

  /**
   * Begins to write a file, one after another: waiting for each would be a good part of the time an export takes, and
   * many at once would keep the log from being read.
   */
  #write(path: string, bytes: Buffer): void {
    this.#waiting += 1;
    this.#writing = this.#writing
      .then(() => this.#put(path, bytes))
      .finally(() => {
        this.#waiting -= 1;
      });
    // Whoever waits hears of a failure; until then it must not end the process.
    this.#writing.catch(() => {});
  }

  async #put(path: string, bytes: Buffer): Promise<void> {
    const file = await open(path, 'wx', 0o600);
    this.#unflushed.push(file);
    await file.writeFile(bytes);
    if (this.#unflushed.length >= TOGETHER) await this.#flush();
  }

  async #flush(): Promise<void> {
    const files = this.#unflushed;
    this.#unflushed = [];
    // All are heard before the first failure is told: none may be open any more when the folder is taken away.
    const flushed = await Promise.allSettled(files.map((file) => file.sync().finally(() => file.close())));
    for (const one of flushed) if (one.status === 'rejected') throw one.reason;
  }

  /** What is taken from now on appears before what was taken so far. */
  goBefore(): void {
    this.#after = this.#listed;
    this.#listed = new Set();
  }

  /** Forgets every appearance so far: the conversation that showed the images is not kept. */
  forget(): void {
    this.#listed = new Set();
  }

  /** Waits until nothing is written any more, however it went. */
  async quiet(): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#flush().catch(() => {});
  }

  /** Removes the files of images that no kept conversation shows, and waits until the rest is on the disk. */
  async settle(): Promise<void> {
    await this.#writing;
    await this.#flush();
    if (this.#written.size === 0) return;
    const folder = join(this.#folder, 'images');
    const listed = new Set(this.list);
    if (listed.size === 0) return rm(folder, { recursive: true });
    for (const name of this.#written) if (!listed.has(`images/${name}`)) await rm(join(folder, name));
    await syncFolder(folder);
  }
}
