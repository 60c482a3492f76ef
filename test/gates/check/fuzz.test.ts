import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_FILES } from '../../../src/catalogue/entry.ts';
import { check } from '../../../src/gates/check/check.ts';
import type { GateReport } from '../../../src/gates/finding.ts';
import { printReport } from '../../../src/gates/print.ts';
import { goodMachine, writeShelf } from '../../helpers/machine.ts';

/** Pieces that parsers stumble over; a run of them is far likelier to be half right than a run of bytes. */
const PIECES = [
  '<script src="machine.js">',
  '</script>',
  '<svg>',
  '<style>',
  '<template>',
  '<iframe srcdoc="<iframe srcdoc=',
  '<noscript>',
  '<p constructor __proto__ toString=x>',
  '[data-constructor]',
  'constructor',
  '__proto__',
  '<!--',
  '-->',
  '<base href="//x">',
  '<dialog data-manual>',
  '<h2>Controls</h2>',
  '<ol><li>',
  '<a href="',
  '<table>',
  '&#0;',
  '&',
  '"',
  "'",
  '`',
  '${',
  '}',
  '{',
  '(',
  ')',
  '[',
  ']',
  '/*',
  '*/',
  '//',
  ';',
  ':',
  ',',
  '\\',
  '\\u{',
  '\n',
  '\u2028',
  '\0',
  '\ufeff',
  '\ud800',
  'url(',
  'u\\72l(',
  '@media',
  '@import',
  '@keyframes',
  'a',
  '.a',
  '#',
  '>',
  '+',
  '~',
  '!',
  '--x:',
  'var a=',
  'window.machine=',
  'fetch(',
  'new ',
  '`https://${',
  'import(',
  'class{',
  '#x in ',
  'function',
  '=>',
  '...',
  'async',
  'await',
  '/x/v',
  '0x',
  '1e999',
  '"a"+',
];

const soup = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => Buffer.from(pieces.join('')));
const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array));
/** A good file with a part of it replaced. */
const wounded = (text: string) =>
  fc
    .tuple(fc.nat(text.length), fc.nat(200), fc.oneof(soup, bytes))
    .map(([at, length, part]) =>
      Buffer.concat([Buffer.from(text.slice(0, at)), part, Buffer.from(text.slice(at + length))]),
    );

const machine = goodMachine();
const json = JSON.stringify([machine.entry], null, 2);
let folder = '';
let site = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'machinery-fuzz-'));
  site = join(folder, 'site');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Judges the shelf as it stands; the report must be whole and printable. */
async function judged(): Promise<GateReport> {
  const report = await check({ site });
  expect(report.ok).toBe(!report.findings.some(({ severity }) => severity === 'error'));
  expect(printReport(report, { colour: false })).toMatch(/^check (?:ok|failed): .+\n$/m);
  return report;
}

describe('check on anything', () => {
  it.each(MACHINE_FILES)('reports and never throws, whatever %s holds', async (file) => {
    await writeShelf(site, [machine]);
    const path = join(site, 'machines', machine.entry.slug, file);
    const content = fc.oneof(bytes, soup, wounded(machine.files[file]));
    await fc.assert(
      fc.asyncProperty(content, async (data) => {
        await writeFile(path, data);
        await judged();
      }),
      { numRuns: 150 },
    );
  });

  it('reports and never throws, whatever the catalogue holds', async () => {
    await writeShelf(site, [machine]);
    const keys = Object.keys(machine.entry);
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string(),
      fc.array(fc.string()),
      fc.constant('../..'),
      fc.constant('__proto__'),
    );
    const entries = fc
      .array(fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.constant('__proto__'), fc.string()), value), {
        maxLength: 4,
      })
      .map((list) => Buffer.from(JSON.stringify(list.map((one, n) => (n === 0 ? { ...machine.entry, ...one } : one)))));
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, soup, wounded(json), entries), async (data) => {
        await writeFile(join(site, 'machines.json'), data);
        await judged();
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['index.html', '<div>'.repeat(40_000)],
    ['index.html', '<a><b>'.repeat(8_000)],
    ['index.html', '<iframe srcdoc=<iframe/srcdoc='.repeat(6_000)],
    ['machine.css', '.a{'.repeat(60_000)],
    ['machine.css', 'a('.repeat(60_000)],
    ['machine.css', `${':not('.repeat(20_000)}{`],
    ['machine.js', '['.repeat(150_000)],
    ['machine.js', `fetch(${"'a'+".repeat(30_000)}'b')`],
    ['machine.js', 'a=>'.repeat(50_000)],
    ['manual.html', '<svg><g>'.repeat(20_000)],
    ['machines.json', '['.repeat(150_000)],
  ] as const)('is done in reasonable time with %s nested without end', async (file, text) => {
    await writeShelf(site, [machine]);
    await writeFile(
      file === 'machines.json' ? join(site, file) : join(site, 'machines', machine.entry.slug, file),
      text,
    );
    expect((await judged()).ok).toBe(false);
  });
});
