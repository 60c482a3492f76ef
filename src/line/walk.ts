import { type Stats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { FactoryError } from '../support/errors.ts';
import { shown } from './tree.ts';

/**
 * Reads a checkout that a hostile agent may be changing at this moment. Every folder is entered by a handle, every file
 * opened without following links, so that no name can be swapped for a way out between looking and reading.
 */

interface WalkedFile {
  mode: '100644' | '100755' | '120000';
  content: Buffer;
}

export interface Walked {
  files: Map<string, WalkedFile>;
  /** `<path> (<why>)` of everything that is there and is not among the files. */
  leftOut: string[];
}

export interface WalkLimits {
  /** All contents together. */
  bytes: number;
  files: number;
}

/** A new file past this many bytes is left out: a whole machine is a fiftieth of it, and git keeps what it has once. 10 MB. */
const LARGEST_NEW = 10_000_000;

/** Deeper folders are left out: git would name them, but nothing that is wanted lies there. */
const DEEPEST = 64;

/** Names that git, or a file system it cares for, takes for `.git` or for a file that configures submodules. */
const GIT_NAME = /^(?:\.git|git~\d+)(?:[. ]*)(?::.*)?$/i;
const IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function gitNamed(name: string): boolean {
  const text = Buffer.from(name, 'latin1').toString().replace(IGNORABLE, '');
  return GIT_NAME.test(text) || text.split('\\').some((part) => GIT_NAME.test(part));
}

function modulesNamed(name: string): boolean {
  const text = Buffer.from(name, 'latin1').toString().replace(IGNORABLE, '');
  return /^(?:\.gitmodules|gitmod~\d+|gi7eba~\d+)(?:[. ]*)(?::.*)?$/i.test(text);
}

/** A folder or file inside a folder held open; where the system has no /proc the plain path has to do. */
function inside(folder: FileHandle, path: Buffer, name: string): Buffer {
  const parent = process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${folder.fd}`) : path;
  return Buffer.concat([parent, Buffer.from('/'), Buffer.from(name, 'latin1')]);
}

class Walk {
  readonly found: Walked = { files: new Map(), leftOut: [] };
  #bytes = 0;
  readonly #tops = new Map<string, number>();
  readonly #limits: WalkLimits;
  readonly #known: (path: string) => boolean;

  constructor(limits: WalkLimits, known: (path: string) => boolean) {
    this.#limits = limits;
    this.#known = known;
  }

  leave(path: string, why: string): void {
    this.found.leftOut.push(`${shown(path)} (${why})`);
  }

  #take(path: string, file: WalkedFile): void {
    this.#count(path, file.content.length);
    this.found.files.set(path, file);
  }

  #count(path: string, bytes: number): void {
    this.#bytes += bytes;
    const top = shown(path.split('/').slice(0, 3).join('/'));
    this.#tops.set(top, (this.#tops.get(top) ?? 0) + bytes);
    if (this.#bytes <= this.#limits.bytes && this.found.files.size < this.#limits.files) return;
    const largest = [...this.#tops].sort((a, b) => b[1] - a[1]).slice(0, 3);
    throw new FactoryError('line/too-large', {
      message: `the checkout holds more than ${Math.round(this.#limits.bytes / 1e6)} MB or ${this.#limits.files} files; most is in ${largest.map(([name, size]) => `${name} (${(size / 1e6).toFixed(1)} MB)`).join(', ')}`,
      mend: 'Remove what does not belong to the work from the checkout; the last good snapshot is kept.',
      data: { largest },
    });
  }

  async folder(handle: FileHandle, path: Buffer, below: string, depth: number): Promise<void> {
    const here = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
    const names = (await readdir(here, { encoding: 'latin1' })) as string[];
    for (const name of names.sort()) {
      const named = below === '' ? name : `${below}/${name}`;
      if (depth === 0 && (name === '.machinery' || (name === 'node_modules' && !this.#known(named)))) continue;
      if (gitNamed(name)) {
        if (depth > 0 || name !== '.git') this.leave(named, 'a nested repository');
      } else if (modulesNamed(name) && !this.#known(named)) this.leave(named, 'a list of submodules');
      else
        await this.#item(
          inside(handle, path, name),
          Buffer.concat([path, Buffer.from(`/${name}`, 'latin1')]),
          named,
          depth,
        );
    }
  }

  async #item(opened: Buffer, path: Buffer, named: string, depth: number): Promise<void> {
    try {
      const stat = await lstat(opened);
      if (stat.isSymbolicLink()) {
        const target = (await readlink(opened, { encoding: 'buffer' })) as Buffer;
        this.#take(named, { mode: '120000', content: target });
      } else if (stat.isDirectory()) await this.#enter(opened, path, named, depth);
      else if (stat.isFile()) await this.#read(opened, named);
      else this.leave(named, kindOf(stat));
    } catch (error) {
      if (error instanceof FactoryError) throw error;
      const code = (error as NodeJS.ErrnoException).code;
      // It went away, or became something else, while it was looked at: the next snapshot tells.
      if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR') return;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EIO' || code === 'ENXIO')
        this.leave(named, `cannot be read: ${code}`);
      else throw error;
    }
  }

  async #enter(opened: Buffer, path: Buffer, named: string, depth: number): Promise<void> {
    if (depth + 1 >= DEEPEST || named.length > 3500) return this.leave(named, 'too deep');
    const handle = await open(opened as never, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await this.folder(handle, path, named, depth + 1);
    } finally {
      await handle.close();
    }
  }

  async #read(opened: Buffer, named: string): Promise<void> {
    const handle = await open(opened as never, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return this.leave(named, kindOf(stat));
      // The other name may be anybody's, and the agent may not be allowed to read it: where the kernel lets it link all the same.
      if (stat.nlink > 1) return this.leave(named, 'a hard link');
      if (stat.size > LARGEST_NEW && !this.#known(named)) return this.leave(named, 'larger than 10 MB');
      if (stat.size > this.#limits.bytes) this.#count(named, stat.size);
      const content = await handle.readFile();
      this.#take(named, { mode: stat.mode & 0o100 ? '100755' : '100644', content });
    } finally {
      await handle.close();
    }
  }
}

function kindOf(stat: Stats): string {
  if (stat.isFIFO()) return 'a pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

/**
 * Every file below a folder as it is now. Left out: `.git` in all its spellings, `.machinery/` and an unknown
 * `node_modules/` at the top, pipes, sockets, devices, hard links, new files of more than 10 MB, what cannot be read.
 * @param known whether the branch has a file at, or below, a path already.
 * @throws FactoryError `line/too-large`; `line/checkout` when the folder itself is gone or a link.
 */
export async function walk(root: string, limits: WalkLimits, known: (path: string) => boolean): Promise<Walked> {
  const handle = await open(root, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch((cause) => {
    throw new FactoryError('line/checkout', {
      message: `the checkout ${root} cannot be read: ${(cause as Error).message}`,
      mend: 'Nothing is lost but what was not snapshotted yet; the next shift makes the checkout anew.',
      cause,
    });
  });
  try {
    const walking = new Walk(limits, known);
    await walking.folder(handle, Buffer.from(root), '', 0);
    return walking.found;
  } finally {
    await handle.close();
  }
}
