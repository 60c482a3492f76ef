import { type LineContext, localRef, originRef } from './context.ts';

/** One file that differs between two commits. */
export interface ChangedFile {
  /** A byte string, as in a tree; `shown` makes it readable. */
  path: string;
  how: 'added' | 'changed' | 'removed';
  /** The file's mode now; before, for one that was removed. */
  mode: string;
  /** The object to read: the file now, or as it was before it was removed. */
  id: string;
  /** The object before; null for a new file. */
  before: string | null;
  /** Bytes. */
  size: number;
  /** Lines that came and went; null where they were not counted: no text, or too much of it. */
  lines: { added: number; removed: number } | null;
}

/** What one shift did to the factory's files. */
export interface Change {
  base: string;
  commit: string;
  /** Whether that commit is on main. */
  landed: boolean;
  /** By path, at most as many as were asked for. */
  files: ChangedFile[];
  /** Files that are left out of the list. */
  more: number;
}

/** What is asked of a shift's record. */
export interface OfShift {
  id: string;
  base: string | null;
  branch: string | null;
  commit: string | null;
}

const NOTHING = /^0+$/;
const COMMIT = /^[0-9a-f]{40,64}$/;
const BRANCH = /^shift\/[\d-]+$/;
const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv'];
/** Lines are counted when the files together are not larger, in bytes: the diff of a huge file takes minutes. */
const COUNTED = 8 * 1024 * 1024;

/**
 * What a shift landed, or what of it waits on its branch: its last snapshot against the main that it began on.
 * @returns null when nothing of it is here: no snapshot yet, or its branch went and git has forgotten it.
 */
export async function changeOfShift(context: LineContext, shift: OfShift, most: number): Promise<Change | null> {
  const commit = shift.commit ?? (await lastSnapshot(context, shift));
  const base = shift.commit === null ? shift.base : `${shift.commit}^`;
  if (commit === null || base === null || !COMMIT.test(commit)) return null;
  const raw = await context.git.ask(['diff-tree', '-r', '-z', '--raw', '--full-index', ...PLAIN, base, commit]);
  if (raw === null) return null;
  const all = readRaw(raw.toString('latin1'));
  const files = all.slice(0, most);
  await measure(context, files);
  if (files.reduce((sum, { size }) => sum + size, 0) <= COUNTED) await countLines(context, base, commit, files);
  return { base, commit, landed: shift.commit !== null, files, more: all.length - files.length };
}

/** The newest commit with this shift's trailer on its branch, wherever that branch is now. */
async function lastSnapshot(context: LineContext, { id, base, branch }: OfShift): Promise<string | null> {
  if (branch === null || !BRANCH.test(branch) || base === null || !COMMIT.test(base)) return null;
  // A pattern of one letter in brackets names one ref, and is no error where that is not there: one call instead of two.
  const exactly = (ref: string) => `--glob=${ref.slice(0, -1)}[${ref.slice(-1)}]`;
  const names = [branch, branch.replace(/^shift\//, 'quarantine/')];
  const refs = [...names.map(localRef), ...names.map(originRef)].map(exactly);
  const asked = ['log', '-1', '--format=%H', `--grep=^Shift: ${id}$`, ...refs, `^${base}`];
  const found = (await context.git.ask(asked))?.toString().trim() ?? '';
  return found === '' ? null : found;
}

function readRaw(raw: string): ChangedFile[] {
  const fields = raw.split('\0');
  const files: ChangedFile[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const match = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])/.exec(fields[at] ?? '');
    if (!match) continue;
    const [, modeBefore = '', modeNow = '', before = '', now = '', letter] = match;
    const removed = NOTHING.test(now);
    files.push({
      path: fields[at + 1] ?? '',
      how: letter === 'A' ? 'added' : removed ? 'removed' : 'changed',
      mode: removed ? modeBefore : modeNow,
      id: removed ? before : now,
      before: NOTHING.test(before) ? null : before,
      size: 0,
      lines: null,
    });
  }
  return files;
}

async function measure({ git }: LineContext, files: ChangedFile[]): Promise<void> {
  if (files.length === 0) return;
  const input = Buffer.from(`${files.map(({ id }) => id).join('\n')}\n`);
  const told = await git.text(['cat-file', '--batch-check=%(objectname) %(objectsize)'], { input });
  const sizes = new Map(told.split('\n').map((line) => line.split(' ') as [string, string]));
  for (const file of files) file.size = Number(sizes.get(file.id)) || 0;
}

async function countLines({ git }: LineContext, base: string, commit: string, files: ChangedFile[]): Promise<void> {
  const counted = await git.ask(['diff-tree', '-r', '-z', '--numstat', ...PLAIN, base, commit]);
  const lines = new Map<string, { added: number; removed: number }>();
  for (const each of (counted?.toString('latin1') ?? '').split('\0')) {
    const match = /^(\d+)\t(\d+)\t(.*)$/s.exec(each);
    if (match) lines.set(match[3] ?? '', { added: Number(match[1]), removed: Number(match[2]) });
  }
  for (const file of files) file.lines = lines.get(file.path) ?? null;
}

/** How one object's text became another's, as a unified diff; null where git tells none. */
export async function differenceOf({ git }: LineContext, before: string, now: string): Promise<string | null> {
  const told = await git.ask(['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--full-index', before, now]);
  const text = told?.toString() ?? '';
  const at = text.indexOf('\n@@');
  return at === -1 ? null : text.slice(at + 1);
}
