import { join } from 'node:path';
import type { MachineFile } from '../../catalogue/entry.ts';
import type { Finding } from '../finding.ts';
import { type Cache, keyOf } from './cache.ts';
import { decode, readContent } from './folder.ts';
import type { Names } from './panel.ts';
import { teller } from './tell.ts';

/**
 * A machine is judged in parts that need nothing of each other: its pages, its stylesheet, its script. So threads
 * can share a shelf and each warm up only the parsers of its own part, and an edit costs only the part it is in.
 */
export const PARTS = ['pages', 'style', 'script'] as const;
export type Part = (typeof PARTS)[number];

/** One part of one machine to judge: plain data, so that it can be sent to a thread. */
export interface Assignment {
  slug: string;
  names: Names;
  part: Part;
}

export interface Bench {
  site: string;
  cache: Cache | null;
  version: string;
}

interface Unknown {
  key: string;
  contents: Contents;
}

type Contents = [name: MachineFile, content: Buffer][];

const FILES: Record<Part, readonly MachineFile[]> = {
  pages: ['index.html', 'manual.html'],
  style: ['machine.css'],
  script: ['machine.js'],
};

/** Judges a part of a machine, or remembers the verdict. The parsers are loaded when they are first needed. */
export async function judgePart(assignment: Assignment, bench: Bench): Promise<Finding[]> {
  const known = recall(assignment, bench);
  if ('findings' in known) return known.findings;
  const findings = await judgeAfresh(assignment, known.contents);
  bench.cache?.write(known.key, findings);
  return findings;
}

/** The remembered verdict of a part, or what is needed to make one. */
export function recall({ slug, names, part }: Assignment, bench: Bench): { findings: Finding[] } | Unknown {
  const path = join(bench.site, 'machines', slug);
  const contents: Contents = [];
  for (const name of FILES[part]) {
    const content = readContent(path, name);
    if (content) contents.push([name, content]);
  }
  if (!bench.cache) return { key: '', contents };
  // Only the pages are held against the entry's names.
  const asked =
    part === 'pages' ? [bench.version, slug, part, names.controls, names.faults] : [bench.version, slug, part];
  const key = keyOf(asked, contents);
  const findings = bench.cache.read(key);
  return findings ? { findings } : { key, contents };
}

async function judgeAfresh({ slug, names, part }: Assignment, contents: Contents): Promise<Finding[]> {
  const findings: Finding[] = [];
  const tell = teller(slug, findings);
  const texts = new Map(contents.map(([name, content]) => [name, decode(name, content, tell)] as const));
  if (part === 'pages') {
    const { judgePages } = await import('./judge.ts');
    findings.push(...judgePages(slug, names, texts));
    return findings;
  }
  // A file that is missing is not judged: `files/set` tells that.
  for (const text of texts.values()) {
    if (part === 'style') (await import('./style.ts')).judgeStyle(text, slug, tell);
    else (await import('./script.ts')).judgeScript(text, slug, tell);
  }
  return findings;
}
