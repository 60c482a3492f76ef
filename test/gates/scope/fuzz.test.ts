import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareCatalogues } from '../../../src/gates/scope/entries.ts';
import { scope } from '../../../src/gates/scope/scope.ts';
import { blobId, writeCommit } from '../../../src/line/commit.ts';
import { Git } from '../../../src/line/git.ts';
import type { Line, Tree } from '../../../src/line/line.ts';
import { type Bench, bench } from '../../line/helpers.ts';

const RULES = ['scope/outside', 'scope/catalogue', 'scope/entry', 'scope/link'];

const hostileJson = fc.oneof(
  fc.json({ maxDepth: 6 }),
  fc
    .array(
      fc.record(
        { slug: fc.constantFrom('first', 'a', '__proto__', '', '../x'), name: fc.anything() },
        { requiredKeys: [] },
      ),
    )
    .map((value) => {
      try {
        return JSON.stringify(value) ?? 'null';
      } catch {
        return '[]';
      }
    }),
  fc.constantFrom(
    '[{"__proto__": {"slug": "x"}}]',
    '[{"slug": "a", "slug": "b"}]',
    '[{"constructor": null, "slug": {"toString": 1}}]',
    `[${'['.repeat(50_000)}${']'.repeat(50_000)}]`,
    `[{"slug":"deep","x":${'{"x":'.repeat(20_000)}1${'}'.repeat(20_000)}}]`,
    `[${'{"slug":"a"},'.repeat(20_000)}{}]`,
    '\ufeff[]',
    '[null, 1, "x", [], {}]',
  ),
);
const content = fc.oneof(
  hostileJson.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

it('judges any two catalogues without throwing', () => {
  fc.assert(
    fc.property(fc.option(content), fc.option(content), fc.boolean(), (base, work, repair) => {
      const { findings, slug } = compareCatalogues(base, work, repair);
      expect(findings.every((finding) => RULES.includes(finding.rule) && finding.message !== '')).toBe(true);
      expect(slug === null || /^[a-z0-9-]+$/.test(slug)).toBe(true);
    }),
    { numRuns: 400 },
  );
});

let at: Bench;
let line: Line;
let git: Git;
beforeAll(async () => {
  at = bench();
  line = await at.open();
  await line.fetch();
  git = new Git({ gitDir: at.gitDir, silenceMs: 60_000 });
});
afterAll(() => at.remove());

const name = fc.oneof(
  fc.constantFrom(
    'site',
    'machines',
    'machines.json',
    'first',
    'a',
    'HEAD',
    'objects',
    'refs',
    'index.html',
    'README.md',
  ),
  fc
    .string({ minLength: 1, maxLength: 6, unit: 'binary' })
    .map((text) => Buffer.from(text).toString('latin1').replace(/[\0/]/g, 'x')),
);
const path = fc.oneof(
  fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/')),
  fc.tuple(fc.constantFrom('first', 'a', 'b'), name).map(([slug, file]) => `site/machines/${slug}/${file}`),
);
const file = fc.record({
  mode: fc.constantFrom('100644', '100755', '120000', '160000'),
  text: fc.string({ maxLength: 20 }),
});
const randomTree = fc.tuple(fc.dictionary(path, file, { maxKeys: 12 }), fc.option(content));

async function commit(
  ref: string,
  [files, catalogue]: [Record<string, { mode: string; text: string }>, Buffer | null],
): Promise<string> {
  const tree: Tree = new Map();
  const contents = new Map<string, Buffer>();
  const put = (path: string, mode: string, bytes: Buffer) => {
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git')) return;
    if ([...tree.keys()].some((each) => each === path || each.startsWith(`${path}/`) || path.startsWith(`${each}/`)))
      return;
    // A submodule names a commit that is somewhere else.
    const id = blobId(mode === '160000' ? Buffer.concat([bytes, Buffer.from(' elsewhere')]) : bytes);
    if (mode !== '160000') contents.set(id, bytes);
    tree.set(path, { mode, id, size: bytes.length });
  };
  if (catalogue !== null) put('site/machines.json', '100644', catalogue);
  for (const [path, { mode, text }] of Object.entries(files)) put(path, mode, Buffer.from(text));
  return writeCommit(git, {
    ref: `refs/heads/${ref}`,
    parents: [],
    author: at.options.author,
    message: 'x\n',
    tree,
    contents,
    force: true,
  });
}

it('judges any two trees without throwing', async () => {
  await fc.assert(
    fc.asyncProperty(
      randomTree,
      randomTree,
      fc.array(fc.constantFrom('first', 'a', ''), { maxLength: 2 }),
      async (one, two, allowRepair) => {
        const [base, work] = [await commit('fuzz-base', one), await commit('fuzz-work', two)];
        const report = await scope({ line, base, work, allowRepair });
        expect(report.findings.every((finding) => RULES.includes(finding.rule))).toBe(true);
        expect(report.ok).toBe(!report.findings.some((finding) => finding.severity === 'error'));
      },
    ),
    { numRuns: 40 },
  );
}, 120_000);

it('tells nothing about a tree compared with itself but that nothing was added', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(path, file, { maxKeys: 8 }), async (files) => {
      const base = await commit('fuzz-same', [files, Buffer.from('[]\n')]);
      const report = await scope({ line, base, work: base });
      expect(report.findings.map((finding) => finding.rule)).toEqual(['scope/entry']);
    }),
    { numRuns: 15 },
  );
}, 120_000);
