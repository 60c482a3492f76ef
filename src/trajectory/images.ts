import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blobName, imageBytes } from '../session/blobs.ts';
import type { SessionImage } from '../session/types.ts';
import { syncFolder } from '../support/files.ts';

/** The images of a row being written: each is checked once a session, and kept once whoever showed it. */
export class RowImages {
  readonly #sessions: string;
  readonly #folder: string;
  readonly #present = new Map<string, boolean>();
  readonly #written = new Set<string>();
  #listed = new Set<string>();

  /** @param folder the row's folder; the images go to `images/` in it. */
  constructor(sessions: string, folder: string) {
    this.#sessions = sessions;
    this.#folder = folder;
  }

  /** Relative paths, in order of first appearance. */
  get list(): string[] {
    return [...this.#listed];
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
    await writeFile(join(this.#folder, 'images', name), bytes, { flag: 'wx', mode: 0o600 });
    return true;
  }

  /** Forgets every appearance so far: the conversation that showed the images is not kept. */
  forget(): void {
    this.#listed = new Set();
  }

  /** Removes the files of images that no kept conversation shows, and flushes the rest to the disk. */
  async settle(): Promise<void> {
    if (this.#written.size === 0) return;
    const folder = join(this.#folder, 'images');
    const names = [...this.#written];
    for (const name of names) if (!this.#listed.has(`images/${name}`)) await rm(join(folder, name));
    if (this.#listed.size === 0) return rm(folder, { recursive: true });
    const kept = names.filter((name) => this.#listed.has(`images/${name}`));
    // Several at once share the disk's own commits; one by one they would be most of the time an export takes.
    const flush = async (): Promise<void> => {
      for (let name = kept.pop(); name !== undefined; name = kept.pop()) await syncFile(join(folder, name));
    };
    await Promise.all(Array.from({ length: 16 }, flush));
    await syncFolder(folder);
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
