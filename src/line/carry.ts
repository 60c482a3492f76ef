import { CATALOGUE, MACHINES, appendEntry, parseCatalogue, slugOf } from './catalogue.ts';
import { blobId } from './commit.ts';
import type { LineContext } from './context.ts';
import { type Tree, readTree } from './tree.ts';

/** The name of the machine folder a path lies in, or null. */
export function machineOf(path: string): string | null {
  const match = /^site\/machines\/([^/]+)\/./.exec(path);
  return match?.[1] ?? null;
}

const foldersOf = (tree: Tree) => new Set([...tree.keys()].map(machineOf).filter((slug) => slug !== null));

/** A file of a commit, or null when it has none there. */
export async function readFileOf(context: LineContext, commit: string, path: string): Promise<Buffer | null> {
  return context.git.ask(['cat-file', 'blob', `${commit}:${path}`]);
}

/**
 * The files of base plus a branch's own: the machine folders it began, and its catalogue entries. Nothing else of the
 * branch is carried, and what base has meanwhile wins.
 */
export async function carried(
  context: LineContext,
  branch: string,
  base: string,
): Promise<{ tree: Tree; contents: Map<string, Buffer>; fork: string | null }> {
  const { git } = context;
  const fork = (await git.ask(['merge-base', branch, base]))?.toString().trim() ?? null;
  const [tree, theirs] = [await readTree(git, base), await readTree(git, branch, MACHINES)];
  const before = foldersOf(fork === null ? tree : await readTree(git, fork, MACHINES));
  const taken = foldersOf(tree);
  for (const [path, entry] of theirs) {
    const slug = machineOf(path);
    if (slug !== null && !before.has(slug) && !taken.has(slug) && entry.mode !== '160000') tree.set(path, entry);
  }
  const contents = new Map<string, Buffer>();
  const text = await readFileOf(context, base, CATALOGUE);
  const entries = parseCatalogue(text);
  if (text !== null && entries !== null) {
    const known = new Set(
      [...entries, ...((fork && parseCatalogue(await readFileOf(context, fork, CATALOGUE))) || [])].map(slugOf),
    );
    const own = (parseCatalogue(await readFileOf(context, branch, CATALOGUE)) ?? []).filter((entry) => {
      const slug = slugOf(entry);
      return slug !== null && !known.has(slug);
    });
    const content = Buffer.from(own.reduce(appendText, text.toString()));
    const id = blobId(content);
    tree.set(CATALOGUE, { mode: '100644', id, size: content.length });
    if (own.length > 0) contents.set(id, content);
  }
  return { tree, contents, fork };
}

const appendText = (text: string, entry: unknown) => appendEntry(text, entry);
