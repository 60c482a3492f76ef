import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MACHINE_FILES } from '../../src/catalogue/entry.ts';
import { check } from '../../src/gates/check/check.ts';
import { findChromium } from '../../src/gates/probe/chromium.ts';
import { probe } from '../../src/gates/probe/probe.ts';
import { type Piece, pieces, stages } from '../../src/rehearsal/repertoire.ts';
import { entryOf } from '../../src/rehearsal/script/entry.ts';
import { PACKAGE_ROOT } from '../../src/support/self.ts';

/** Where a piece's finished files are. */
export const folderOf = (slug: string) => join(PACKAGE_ROOT, 'src', 'rehearsal', 'repertoire', slug);

export async function pieceOf(slug: string): Promise<Piece> {
  const piece = (await pieces()).find(({ entry }) => entry.slug === slug);
  if (!piece) throw new Error(`${slug} is not in the repertoire`);
  return piece;
}

/** One version of a piece, put on a shelf of its own in a temporary folder, which is removed afterwards. */
export async function withVersion<T>(slug: string, version: 'first' | 'final', use: (site: string) => Promise<T>) {
  const piece = await pieceOf(slug);
  const site = await mkdtemp(join(tmpdir(), 'rehearsal-version-'));
  try {
    const folder = join(site, 'machines', slug);
    await mkdir(folder, { recursive: true });
    await writeFile(join(site, 'machines.json'), `${JSON.stringify([entryOf(piece, '2025-01-01')], null, 2)}\n`);
    for (const file of MACHINE_FILES) {
      const text = version === 'first' ? stages(piece, file)[0] : piece.files[file];
      await writeFile(join(folder, file), text ?? '');
    }
    return await use(site);
  } finally {
    await rm(site, { recursive: true, force: true });
  }
}

/** The rules that check and probe find broken in one version of a piece. */
export function judge(slug: string, version: 'first' | 'final'): Promise<string[]> {
  return withVersion(slug, version, async (site) => {
    const checked = await check({ site, cache: null });
    const probed = await probe({ site, out: join(site, 'out'), chromium: await findChromium(), cache: null });
    return [...checked.findings, ...probed.findings].map(({ rule }) => rule);
  });
}
