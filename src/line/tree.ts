import type { Git } from './git.ts';

/**
 * A commit's files. Paths are byte strings (one character a byte), since a file's name may be no valid text; `shown` makes
 * one readable. Plain ASCII paths are the same either way.
 */
export interface TreeEntry {
  /** `100644`, `100755`, `120000` (link) or `160000` (submodule). */
  mode: string;
  id: string;
  /** Bytes; 0 for a submodule. */
  size: number;
}

export type Tree = Map<string, TreeEntry>;

/** A byte path as text a person can read, with control characters made visible. */
export function shown(path: string): string {
  return Buffer.from(path, 'latin1')
    .toString()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

/** All files of a commit (or tree), or those below one folder. */
export async function readTree(git: Git, commit: string, folder?: string): Promise<Tree> {
  const below = folder === undefined ? [] : ['--', `${folder}/`];
  const listing = await git.run(['ls-tree', '-r', '-z', '-l', '--full-tree', commit, ...below]);
  const tree: Tree = new Map();
  for (const line of listing.toString('latin1').split('\0')) {
    const match = /^(\d+) (?:blob|commit) ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line);
    if (!match) continue;
    const [, mode = '', id = '', size = '0', path = ''] = match;
    tree.set(path, { mode, id, size: size === '-' ? 0 : Number(size) });
  }
  return tree;
}

/** How many bytes of content are read at a time; at most two such batches are in memory. */
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Reads objects' contents, a batch ahead of whoever takes them; objects that are not there are passed over. Sizes may be
 * estimates.
 */
export async function* readObjects(
  git: Git,
  wanted: Iterable<{ id: string; size: number }>,
): AsyncGenerator<{ id: string; content: Buffer }> {
  let ahead: Promise<Buffer> | null = null;
  try {
    for (const ids of batches(wanted)) {
      const ready: Promise<Buffer> | null = ahead;
      ahead = git.run(['cat-file', '--batch'], { input: Buffer.from(`${ids.join('\n')}\n`) });
      ahead.catch(() => {}); // it is told when its turn comes
      if (ready) yield* objectsIn(await ready);
    }
    if (ahead) yield* objectsIn(await ahead);
  } finally {
    await ahead?.catch(() => {});
  }
}

function* batches(wanted: Iterable<{ id: string; size: number }>): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const { id, size } of wanted) {
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(id);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function* objectsIn(output: Buffer): Generator<{ id: string; content: Buffer }> {
  let at = 0;
  while (at < output.length) {
    const end = output.indexOf(10, at);
    const [id = '', , size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (size === undefined) continue;
    yield { id, content: output.subarray(at, at + Number(size)) };
    at += Number(size) + 1;
  }
}
