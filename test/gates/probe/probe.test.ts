import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GateReport } from '../../../src/gates/finding.ts';
import { findChromium } from '../../../src/gates/probe/chromium.ts';
import { PROBE_RULES } from '../../../src/gates/probe/collector.ts';
import { probe } from '../../../src/gates/probe/probe.ts';
import { goodMachine, writeShelf } from '../../helpers/machine.ts';
import { FAULTY, TRAPS, machineFor } from './cases.ts';

const cases = [...FAULTY, ...TRAPS].map((given, at) => ({ ...given, slug: `case-${at}` }));
/** Rules whose case is a test of its own, in look.test.ts. */
const ELSEWHERE = ['look/twin'];

let folder: string;
let report: GateReport;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'probe-test-'));
  const site = join(folder, 'site');
  await writeShelf(
    site,
    cases.map((given) => machineFor(given, given.slug)),
  );
  report = await probe({
    site,
    slugs: cases.map(({ slug }) => slug),
    out: join(folder, 'out'),
    chromium: await findChromium(),
    cache: null,
  });
}, 600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(cases)('a machine that $title', ({ slug, rules, says }) => {
  it(rules.length > 0 ? `breaks ${rules.join(' and ')} and nothing else` : 'breaks no rule', () => {
    const found = report.findings.filter(({ machine }) => machine === slug);
    expect([...new Set(found.map(({ rule }) => rule))].sort(), JSON.stringify(found, null, 2)).toEqual(
      [...rules].sort(),
    );
    if (says) expect(found.map(({ message }) => message).join('\n')).toContain(says);
  });

  it('has its three pictures, each of its size', async () => {
    const sizes = await Promise.all(
      ['desktop', 'phone', 'manual'].map(async (name) => {
        const { width, height, format } = await sharp(
          await readFile(join(folder, 'out', `${slug}-${name}.png`)),
        ).metadata();
        return `${format} ${width}x${height}`;
      }),
    );
    expect(sizes).toEqual(['png 1440x900', 'png 390x844', 'png 1440x900']);
  });
});

describe('the table of cases', () => {
  it('has a machine that breaks each rule of docs/gates.md, and it alone', async () => {
    const documented = await probeRules();
    const covered = new Set([
      ...FAULTY.filter(({ rules }) => rules.length === 1).flatMap(({ rules }) => rules),
      ...ELSEWHERE,
    ]);
    expect([...covered].sort()).toEqual(documented);
  });

  it('has a trap for each rule', async () => {
    expect([...new Set(TRAPS.flatMap(({ tempts = [] }) => tempts))].sort()).toEqual(await probeRules());
  });

  it('names the very rules the gate knows', async () => {
    expect([...PROBE_RULES].sort()).toEqual(await probeRules());
  });
});

async function probeRules(): Promise<string[]> {
  const text = await readFile(new URL('../../../docs/gates.md', import.meta.url), 'utf8');
  const section = /^## probe[^\n]*\n([\s\S]*?)(?=^## )/m.exec(text)?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows
    .flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)]
        .map((found) => found[1] ?? '')
        .filter((id) => id.includes('/')),
    )
    .sort();
}

it('judges the catalogue’s last entry when no slug is given', async () => {
  const site = join(folder, 'two');
  await writeShelf(site, [goodMachine(), goodMachine({ slug: 'last-one' })]);
  const { machines, ok } = await probe({ site, out: join(folder, 'out'), chromium: await findChromium(), cache: null });
  expect({ machines, ok }).toEqual({ machines: ['last-one'], ok: true });
});
