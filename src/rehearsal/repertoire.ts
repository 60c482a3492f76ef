import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { distance, parseColour } from '../catalogue/colour.ts';
import { type Entry, MACHINE_FILES, type MachineFile } from '../catalogue/entry.ts';
import { PACKAGE_ROOT } from '../support/self.ts';
import type { Voice } from './script/voice.ts';

/** What a catalogue entry has to say for two machines to be told apart. */
export type ShelfEntry = Pick<Entry, 'slug'> & Partial<Entry>;

/** One replacement that turns the finished file into its first version, and is undone on the way back. */
export interface Change {
  file: MachineFile;
  /** Text that stands once in the finished file. */
  final: string;
  /** What stood in its place at first. */
  first: string;
}

/** A machine that the rehearsal can make: its finished files, how the first version differed, and what is said. */
export interface Piece {
  entry: Omit<Entry, 'created'>;
  files: Record<MachineFile, string>;
  changes: Change[];
  voice: Voice;
}

/** Read at run time from src/, which is shipped: the four files are served as they are, so no build may touch them. */
const FOLDER = join(PACKAGE_ROOT, 'src', 'rehearsal', 'repertoire');

/** Least distance, chassis plus accent, to every machine on the shelf (`entry/unique-palette`). */
const PALETTE_APART = 80;

let loaded: Promise<Piece[]> | null = null;

/** Every piece of the repertoire, in the order in which they are played. */
export function pieces(): Promise<Piece[]> {
  loaded ??= load();
  return loaded;
}

/** The slugs of the repertoire. */
export async function repertoireSlugs(): Promise<string[]> {
  return (await pieces()).map((piece) => piece.entry.slug);
}

/**
 * The next machine that the rehearsal can make beside what is on the shelf.
 * @returns null when all of it is there, or what is left collides with the shelf; the shift is then idle.
 */
export async function nextPiece(shelf: readonly ShelfEntry[]): Promise<Piece | null> {
  return (await pieces()).find((piece) => shelf.every((entry) => !collides(piece.entry, entry))) ?? null;
}

const fold = (text: string | undefined) => (text ?? '').trim().replace(/\s+/g, ' ').toLowerCase();

function collides(piece: Piece['entry'], other: ShelfEntry): boolean {
  const same = (key: 'slug' | 'name' | 'kind' | 'design' | 'interaction') => fold(other[key]) === fold(piece[key]);
  const place = fold(other.domain) === fold(piece.domain) && fold(other.era) === fold(piece.era);
  return place || same('slug') || same('name') || same('kind') || same('design') || same('interaction') || tooNear();

  function tooNear(): boolean {
    const [chassis, accent] = (other.palette ?? []).map(parseColour);
    const [ownChassis, ownAccent] = piece.palette.map(parseColour);
    if (!chassis || !accent || !ownChassis || !ownAccent) return false;
    return distance(chassis, ownChassis) + distance(accent, ownAccent) < PALETTE_APART;
  }
}

/** Every state of one file on its way from the first version to the finished one: one more change in each. */
export function stages(piece: Piece, file: MachineFile): string[] {
  const changes = piece.changes.filter((change) => change.file === file);
  const states = [piece.files[file]];
  // Walked backwards, so that the last change made is the first one undone.
  for (const { final, first } of [...changes].reverse()) states.unshift(swap(states[0] as string, final, first));
  return states;
}

/** Replaces a text that stands exactly once; anything else is a mistake in the piece. */
export function swap(text: string, from: string, to: string): string {
  const at = text.indexOf(from);
  if (at < 0 || text.indexOf(from, at + 1) >= 0) throw new Error(`not exactly once in the file: ${from.slice(0, 80)}`);
  return text.slice(0, at) + to + text.slice(at + from.length);
}

async function load(): Promise<Piece[]> {
  const folders = (await readdir(FOLDER, { withFileTypes: true })).filter((item) => item.isDirectory());
  const found = await Promise.all(folders.map((folder) => loadPiece(join(FOLDER, folder.name))));
  return found.sort((a, b) => a.order - b.order).map(({ piece }) => piece);
}

async function loadPiece(folder: string): Promise<{ order: number; piece: Piece }> {
  const text = (name: string) => readFile(join(folder, name), 'utf8');
  const { order, ...told } = parse(await text('piece.yaml')) as { order: number } & Omit<Piece, 'files'>;
  const files = {} as Piece['files'];
  for (const file of MACHINE_FILES) files[file] = await text(file);
  return { order, piece: { ...told, files } };
}
