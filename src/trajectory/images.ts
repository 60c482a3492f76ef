import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { blobName, imageBytes } from '../session/blobs.ts';
import type { SessionImage } from '../session/types.ts';
import { writeFileDurable } from '../support/files.ts';

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
    if (!this.#written.has(name)) await writeFileDurable(join(this.#folder, 'images', name), bytes);
    this.#written.add(name);
    return true;
  }

  /** Forgets every appearance so far: the conversation that showed the images is not kept. */
  forget(): void {
    this.#listed = new Set();
  }

  /** Removes the files of images that no kept conversation shows. */
  async prune(): Promise<void> {
    for (const name of this.#written) {
      if (!this.#listed.has(`images/${name}`)) await rm(join(this.#folder, 'images', name), { force: true });
    }
    if (this.#listed.size === 0) await rm(join(this.#folder, 'images'), { recursive: true, force: true });
  }
}
