import { isUtf8 } from 'node:buffer';
import { type Stats, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { MACHINE_FILES, type MachineFile } from '../../catalogue/entry.ts';
import { positionAt } from '../../catalogue/json.ts';
import type { Tell } from './tell.ts';

/** A machine's folder as it stands on disk. Read synchronously: a gate has nothing else to do meanwhile. */
export interface Folder {
  /** Null when there is no folder. */
  names: string[] | null;
  files: Map<MachineFile, FileOnDisk>;
}

export interface FileOnDisk {
  kind: 'file' | 'link' | 'other' | 'unreadable';
  bytes: number;
  /** Null for what was not wanted, is no regular file, cannot be read, or is too large to be judged. */
  content: Buffer | null;
}

/** 1024 bytes. */
const KB = 1024;
const LIMIT = 200 * KB;
const WARNING = 160 * KB;
/** A file past this is refused for its size alone, unread: no machine is near it, and parsing it might take for ever. */
const UNREAD = 512 * KB;

/** Reads a folder's names, what kind of thing each of the four files is, and the content of those that are wanted. */
export function readFolder(path: string, wanted: readonly MachineFile[]): Folder {
  const folder: Folder = { names: null, files: new Map() };
  try {
    // A folder that is a link could lead anywhere; it is not followed.
    if (!lstatSync(path).isDirectory()) return folder;
    folder.names = readdirSync(path).sort();
  } catch {
    return folder;
  }
  for (const name of MACHINE_FILES) {
    if (folder.names.includes(name)) folder.files.set(name, readOne(`${path}/${name}`, wanted.includes(name)));
  }
  return folder;
}

function readOne(path: string, isWanted: boolean): FileOnDisk {
  try {
    const stats: Stats = lstatSync(path);
    if (stats.isSymbolicLink()) return { kind: 'link', bytes: 0, content: null };
    if (!stats.isFile()) return { kind: 'other', bytes: 0, content: null };
    return { kind: 'file', bytes: stats.size, content: isWanted && stats.size <= UNREAD ? readFileSync(path) : null };
  } catch {
    return { kind: 'unreadable', bytes: 0, content: null };
  }
}

/** The rules about the folder itself. @returns the texts that were read. */
export function judgeFolder(folder: Folder, slug: string, tell: Tell): Map<MachineFile, string> {
  const texts = new Map<MachineFile, string>();
  const four = MACHINE_FILES.join(', ');
  if (folder.names === null) {
    tell('files/set', `there is no folder machines/${slug}; it must hold exactly ${four}`);
    return texts;
  }
  for (const name of MACHINE_FILES) {
    if (!folder.files.has(name))
      tell('files/set', `${name} is missing; the folder must hold exactly ${four}`, { file: name });
  }
  for (const name of folder.names) {
    if (folder.files.has(name as MachineFile)) continue;
    tell('files/set', `${JSON.stringify(name)} does not belong here; the folder must hold exactly ${four}`);
  }
  let total = 0;
  for (const [name, file] of folder.files) {
    total += file.bytes;
    if (file.kind === 'link')
      tell('files/regular', `${name} is a symbolic link; it must be a regular file`, { file: name });
    else if (file.kind === 'other') tell('files/regular', `${name} is not a regular file`, { file: name });
    else if (file.kind === 'unreadable') tell('files/regular', `${name} cannot be read`, { file: name });
    else if (file.content) texts.set(name, decode(name, file.content, tell));
  }
  judgeSize(folder, total, tell);
  return texts;
}

function judgeSize(folder: Folder, total: number, tell: Tell): void {
  if (total <= WARNING) return;
  const each = [...folder.files].map(([name, { bytes }]) => `${name} ${toKb(bytes)}`).join(', ');
  const unread = [...folder.files].some(([, { bytes }]) => bytes > UNREAD)
    ? ' A file over 512 KB is not judged further.'
    : '';
  if (total > LIMIT) {
    tell('files/size', `the four files are ${toKb(total)} together; more than 200 KB is refused (${each}).${unread}`);
  } else {
    tell('files/size', `the four files are ${toKb(total)} together; they should stay under 160 KB (${each})`, {
      severity: 'warning',
    });
  }
}

function toKb(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} KB`;
}

/** A file's text; a wrong byte is told and stands as U+FFFD, so that the rest can still be judged. */
export function decode(name: MachineFile, content: Buffer, tell: Tell): string {
  // Measurably faster than a TextDecoder, which would leave the byte order mark out by itself.
  const text = content.toString('utf8').replace(/^\ufeff/, '');
  if (!isUtf8(content)) {
    const { line, column } = positionAt(text, Math.max(0, text.indexOf('\ufffd')));
    tell('files/encoding', `${name} is not valid UTF-8 (line ${line}, column ${column}); save it as UTF-8`, {
      file: name,
      line,
    });
  }
  return text;
}
