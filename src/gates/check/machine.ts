import { join } from 'node:path';
import { SLUG_PATTERN } from '../../catalogue/entry.ts';
import type { Finding } from '../finding.ts';
import { type Cache, keyOf } from './cache.ts';
import { judgeFolder, readFolder } from './folder.ts';
import type { Names } from './panel.ts';
import { teller } from './tell.ts';

/** One machine to judge: plain data, so that it can be sent to a worker. */
export interface Assignment {
  slug: string;
  names: Names;
}

export interface Bench {
  site: string;
  cache: Cache | null;
  version: string;
}

/** Judges one machine's files, or remembers the verdict. The parsers are loaded when a machine first needs them. */
export async function judgeMachine({ slug, names }: Assignment, bench: Bench): Promise<Finding[]> {
  const known = recall({ slug, names }, bench);
  return 'findings' in known ? known.findings : judgeAfresh({ slug, names }, bench, known);
}

interface Unknown {
  key: string;
  folder: ReturnType<typeof readFolder>;
}

/** The remembered verdict of a machine, or what is needed to make one. */
export function recall({ slug, names }: Assignment, bench: Bench): { findings: Finding[] } | Unknown {
  // A slug that breaks its pattern is told by `entry/slug`; as a path it could lead out of the site.
  if (!SLUG_PATTERN.test(slug)) return { findings: [] };
  const folder = readFolder(join(bench.site, 'machines', slug));
  const key = bench.cache ? keyOf(slug, names, folder, bench.version) : '';
  const findings = bench.cache?.read(key);
  return findings ? { findings } : { key, folder };
}

async function judgeAfresh({ slug, names }: Assignment, bench: Bench, { key, folder }: Unknown): Promise<Finding[]> {
  const { judge } = await import('./judge.ts');
  const findings: Finding[] = [];
  const texts = judgeFolder(folder, slug, teller(slug, findings));
  for (const finding of judge(slug, names, texts)) findings.push(finding);
  bench.cache?.write(key, findings);
  return findings;
}
