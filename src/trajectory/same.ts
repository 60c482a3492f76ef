import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const BLOCK = 1024 * 1024;

async function fill(file: FileHandle, block: Buffer, at: number): Promise<number> {
  let filled = 0;
  for (;;) {
    const { bytesRead } = await file.read(block, filled, block.length - filled, at + filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === block.length) return filled;
  }
}

async function sameFile(a: string, b: string): Promise<boolean> {
  if ((await stat(a)).size !== (await stat(b)).size) return false;
  const files = await Promise.all([open(a), open(b)]);
  const [first, second] = [Buffer.allocUnsafe(BLOCK), Buffer.allocUnsafe(BLOCK)];
  try {
    for (let at = 0; ; at += BLOCK) {
      const [read, alike] = await Promise.all([fill(files[0], first, at), fill(files[1], second, at)]);
      if (read !== alike || first.compare(second, 0, read, 0, read) !== 0) return false;
      if (read < BLOCK) return true;
    }
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

/** Files of a folder and its folders, relative, sorted; anything that is neither a file nor a folder is listed too. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(
      (entry) =>
        `${entry.isFile() ? '' : 'not a file: '}${join(entry.parentPath, entry.name).slice(folder.length + 1)}`,
    )
    .sort();
}

/** Whether two folders hold the same files with the same bytes. What is not a folder is the same as none. */
export async function sameTree(a: string, b: string): Promise<boolean> {
  if (!(await stat(a)).isDirectory() || !(await stat(b)).isDirectory()) return false;
  const [left, right] = await Promise.all([filesOf(a), filesOf(b)]);
  if (left.join('\n') !== right.join('\n')) return false;
  for (const name of left) if (!(await sameFile(join(a, name), join(b, name)))) return false;
  return true;
}
