import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Entry, SLUG_PATTERN } from '../../catalogue/entry.ts';

/** A machine as the probe knows it: what its entry promises, and where its files are. */
export interface ProbedMachine {
  slug: string;
  controls: string[];
  faults: string[];
  folder: string;
  /** The folder as a `file:` URL, with a final slash: a machine must run from disk, so that is how it is opened. */
  base: string;
}

/** What to probe of an entry; of a broken one, what can be used. Null when the slug could name no folder of its own. */
export function machineOf(site: string, entry: Entry): ProbedMachine | null {
  const slug = String(entry.slug);
  if (!SLUG_PATTERN.test(slug)) return null;
  const folder = resolve(site, 'machines', slug);
  return {
    slug,
    controls: strings(entry.controls),
    faults: strings(entry.faults),
    folder,
    base: `${pathToFileURL(folder).href}/`,
  };
}

function strings(list: unknown): string[] {
  return Array.isArray(list)
    ? list.filter((item): item is string => typeof item === 'string' && item.trim() !== '')
    : [];
}

/** Whether a URL asks for something inside the machine's folder, and whether that is a regular file there. */
export async function judgeRequest(machine: ProbedMachine, url: string): Promise<'file' | 'missing' | 'outside'> {
  const plain = (url.split(/[?#]/, 1)[0] ?? '').toString();
  if (!plain.startsWith(machine.base)) return 'outside';
  try {
    const name = decodeURIComponent(plain.slice(machine.base.length));
    if (name.includes('\0') || name.split('/').includes('..')) return 'outside';
    // Every part of the way is looked at: a link inside the folder may lead out of it.
    let path = machine.folder;
    const parts = name.split('/');
    for (const [at, part] of parts.entries()) {
      path = join(path, part);
      const found = await lstat(path);
      if (found.isSymbolicLink()) return 'outside';
      if (at === parts.length - 1) return found.isFile() ? 'file' : 'missing';
    }
  } catch {
    return 'missing';
  }
  return 'missing';
}
