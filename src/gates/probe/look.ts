import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MACHINE_FILES } from '../../catalogue/entry.ts';
import { writeFileDurable } from '../../support/files.ts';

/** Cells across and down of the small grey picture that the hash is taken from. */
const ACROSS = 32;
const DOWN = 20;
/** A step between two cells below this (of 255) is no edge: flat areas say nothing about what a panel looks like. */
const EDGE = 5;
/**
 * Two hashes whose edges agree in this part of all edges of either are of nearly the same picture. One machine in
 * another light paint and under another name was seen to agree in 0.8; machines of different layouts in less than 0.1.
 */
const TWIN = 0.75;
/** Fewer edges than this are a nearly empty picture, which is alike to any other. */
const LEAST_EDGES = 24;

/**
 * The part of a picture that is of its most common colour, 0 to 1. Only a colour of more than half the picture is
 * surely found, which is all that telling a blank picture takes.
 */
export async function sameColourShare(png: Buffer): Promise<number> {
  const { default: sharp } = await import('sharp');
  const { data } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const pixels = new Uint32Array(data.buffer, data.byteOffset, data.byteLength >> 2);
  // Boyer-Moore: whatever colour has the majority is the candidate left at the end.
  let candidate = 0;
  let lead = 0;
  for (const pixel of pixels) {
    if (lead === 0) candidate = pixel;
    lead += pixel === candidate ? 1 : -1;
  }
  let count = 0;
  for (const pixel of pixels) if (pixel === candidate) count += 1;
  return pixels.length === 0 ? 1 : count / pixels.length;
}

/**
 * A perceptual hash: for each pair of neighbouring cells of a small grey copy, across and down, `+` brighter, `-`
 * darker, `.` alike. It follows where light meets dark, so a little more or less paint makes no new machine of an old one.
 */
export async function hashOf(png: Buffer): Promise<string> {
  const { default: sharp } = await import('sharp');
  const cells = await sharp(png)
    .flatten({ background: '#ffffff' })
    .greyscale()
    .resize(ACROSS + 1, DOWN + 1, { fit: 'fill' })
    .raw()
    .toBuffer();
  const at = (x: number, y: number) => cells[y * (ACROSS + 1) + x] ?? 0;
  let hash = '';
  for (let y = 0; y < DOWN; y += 1) {
    for (let x = 0; x < ACROSS; x += 1) {
      hash += edge(at(x + 1, y) - at(x, y)) + edge(at(x, y + 1) - at(x, y));
    }
  }
  return hash;
}

const edge = (difference: number) => (difference >= EDGE ? '+' : difference <= -EDGE ? '-' : '.');

/** Whether two hashes are of nearly the same picture. */
export function areTwins(one: string, two: string): boolean {
  if (one.length !== two.length) return false;
  let edges = 0;
  let alike = 0;
  for (let n = 0; n < one.length; n += 1) {
    if (one[n] === '.' && two[n] === '.') continue;
    edges += 1;
    if (one[n] === two[n]) alike += 1;
  }
  return edges >= LEAST_EDGES && alike / edges >= TWIN;
}

/** The hashes of machines that were probed, each in a file named after the content of the machine's four files. */
export class LookCache {
  private readonly folder: string;

  /** @param cache the factory's cache folder; undefined takes the system's. */
  constructor(cache: string | undefined) {
    const system = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
    this.folder = join(cache ?? join(system, 'machinery'), 'look-1');
  }

  /** The known hash of the machine in a folder, or null. */
  async read(machineFolder: string): Promise<string | null> {
    const key = await contentKey(machineFolder);
    if (key === null) return null;
    const hash = await readFile(join(this.folder, key), 'latin1').catch(() => null);
    return hash !== null && /^[-+.]+$/.test(hash) && hash.length === ACROSS * DOWN * 2 ? hash : null;
  }

  /** Keeps a hash. A cache that cannot be written is done without. */
  async write(machineFolder: string, hash: string): Promise<void> {
    const key = await contentKey(machineFolder);
    if (key !== null) await writeFileDurable(join(this.folder, key), hash).catch(() => {});
  }

  /** Whether anything is known at all: an empty cache is not worth reading a shelf for. */
  async isEmpty(): Promise<boolean> {
    return (await readdir(this.folder).catch(() => [])).length === 0;
  }
}

async function contentKey(machineFolder: string): Promise<string | null> {
  try {
    const hash = createHash('sha256');
    for (const name of MACHINE_FILES) {
      const bytes = await readFile(join(machineFolder, name));
      hash.update(`${name} ${bytes.length}\n`).update(bytes);
    }
    return hash.digest('hex');
  } catch {
    return null;
  }
}
