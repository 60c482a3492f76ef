import { join } from 'node:path';
import { MACHINE_FILES, type MachineFile, SLUG_PATTERN } from '../../catalogue/entry.ts';
import type { Finding } from '../finding.ts';
import { type Cache, keyOf } from './cache.ts';
import { type Folder, decode, judgeFolder, readFolder } from './folder.ts';
import type { Names } from './panel.ts';
import { teller } from './tell.ts';

/**
 * A machine is judged in two parts that need nothing of each other: its pages, stylesheet and folder; and its script. So two
 * threads can share one shelf and each warm up only the parsers of its own part.
 */
export const PARTS = ['pages', 'script'] as const;
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
  folder: Folder;
}

const READ: Record<Part, readonly MachineFile[]> = {
  pages: MACHINE_FILES.filter((name) => name !== 'machine.js'),
  script: ['machine.js'],
};

/** Judges a part of a machine, or remembers the verdict. The parsers are loaded when they are first needed. */
export async function judgePart(assignment: Assignment, bench: Bench): Promise<Finding[]> {
  const known = recall(assignment, bench);
  return 'findings' in known ? known.findings : judgeAfresh(assignment, bench, known);
}

/** The remembered verdict of a part, or what is needed to make one. */
export function recall({ slug, names, part }: Assignment, bench: Bench): { findings: Finding[] } | Unknown {
  // A slug that breaks its pattern is told by `entry/slug`; as a path it could lead out of the site.
  if (!SLUG_PATTERN.test(slug)) return { findings: [] };
  const folder = readFolder(join(bench.site, 'machines', slug), READ[part]);
  if (!bench.cache) return { key: '', folder };
  const key = keyOf([bench.version, slug, part, ...(part === 'pages' ? [names.controls, names.faults] : [])], folder);
  const findings = bench.cache.read(key);
  return findings ? { findings } : { key, folder };
}

async function judgeAfresh(assignment: Assignment, bench: Bench, { key, folder }: Unknown): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { slug, names, part } = assignment;
  const tell = teller(slug, findings);
  if (part === 'pages') {
    const { judgePages } = await import('./judge.ts');
    findings.push(...judgePages(slug, names, judgeFolder(folder, slug, tell)));
  } else {
    const content = folder.files.get('machine.js')?.content;
    if (content) {
      const { judgeScript } = await import('./script.ts');
      judgeScript(decode('machine.js', content, tell), slug, tell);
    }
  }
  bench.cache?.write(key, findings);
  return findings;
}
