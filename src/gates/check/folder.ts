import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { MACHINE_FILES, type MachineFile } from '../../catalogue/entry.ts';
import { positionAt } from '../../catalogue/json.ts';
import type { Tell } from './tell.ts';

/** A machine's folder as it stands on disk. Read synchronously: a gate has nothing else to do meanwhile. */
export interface Folder {
  /** Null when there is no folder. */
  names: string[] | null;
  files: Map<MachineFile, { kind: 'file' | 'link' | 'other' | 'unreadable'; bytes: number }>;
}

/** 1024 bytes. */
const KB = 1024;
const LIMIT = 200 * KB;
const WARNING = 160 * KB;
/** A file past this is refused for its size alone, unread: no machine is near it, and parsing it might take for ever. */
const UNREAD = 512 * KB;

/** Reads a folder's names and what kind of thing each of the four files is. */
export function readFolder(path: string): Folder {
  const folder: Folder = { names: null, files: new Map() };
  if (!isFolder(path)) return folder;
  try {
    folder.names = readdirSync(path).sort();
  } catch {
    return folder;
  }
  for (const name of MACHINE_FILES) {
    if (!folder.names.includes(name)) continue;
    try {
      const stats = lstatSync(`${path}/${name}`);
      const kind = stats.isSymbolicLink() ? 'link' : stats.isFile() ? 'file' : 'other';
      folder.files.set(name, { kind, bytes: kind === 'file' ? stats.size : 0 });
    } catch {
      folder.files.set(name, { kind: 'unreadable', bytes: 0 });
    }
  }
  return folder;
}

/** A file's content; null for what is no regular file of a real folder, cannot be read, or is too large to be judged. */
export function readContent(path: string, name: MachineFile): Buffer | null {
  if (!isFolder(path)) return null;
  try {
    const stats = lstatSync(`${path}/${name}`);
    return stats.isFile() && stats.size <= UNREAD ? readFileSync(`${path}/${name}`) : null;
  } catch {
    return null;
  }
}

/** Whether a folder is there. One that is a link could lead anywhere and is not followed. */
function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The rules about the folder itself. */
export function judgeFolder(folder: Folder, slug: string, tell: Tell): void {
  const four = MACHINE_FILES.join(', ');
  if (folder.names === null) {
    tell('files/set', `there is no folder machines/${slug}; it must hold exactly ${four}`);
    return;
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
  }
  judgeSize(folder, total, tell);
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
