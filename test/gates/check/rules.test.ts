import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { check } from '../../../src/gates/check/check.ts';
import { CHECK_RULES } from '../../../src/gates/check/rules.ts';
import { PACKAGE_ROOT } from '../../../src/support/self.ts';
import { goodMachines } from '../../helpers/machine.ts';
import { type Case, withShelf } from './cases/bench.ts';
import { CODE_CASES } from './cases/code.ts';
import { ENTRY_CASES } from './cases/entries.ts';
import { FILE_CASES } from './cases/files.ts';
import { PAGE_CASES } from './cases/pages.ts';
import { REQUEST_CASES } from './cases/requests.ts';

const CASES = [...ENTRY_CASES, ...FILE_CASES, ...PAGE_CASES, ...CODE_CASES, ...REQUEST_CASES];
const WARNINGS = new Set(['panel/control-kinds']);

async function findingsOf({ edit, after }: Case) {
  const machines = goodMachines(2);
  const [first, second] = machines as [(typeof machines)[0], (typeof machines)[0]];
  edit?.(second, first);
  return withShelf(machines, async (site) => {
    await after?.(site, second.entry.slug);
    return (await check({ site })).findings;
  });
}

describe('a machine that breaks one rule', () => {
  it.each(CASES.filter(({ rule }) => rule !== null))('$rule: $name', async (one) => {
    const findings = await findingsOf(one);
    expect([...new Set(findings.map(({ rule }) => rule))]).toEqual([one.rule]);
    for (const { message, severity, file, line } of findings) {
      expect(message.length).toBeGreaterThan(20);
      if (WARNINGS.has(one.rule as string)) expect(severity).toBe('warning');
      if (file?.match(/\.(html|css|js)$/) && one.rule !== 'files/set' && one.rule !== 'files/regular') {
        expect(line).toBeGreaterThan(0);
      }
    }
  });
});

describe('a machine that only looks as if it broke a rule', () => {
  it.each(CASES.filter(({ rule }) => rule === null))('$name', async (one) => {
    expect(await findingsOf(one)).toEqual([]);
  });
});

describe('the list of rules', () => {
  it('has a case that breaks each', () => {
    const broken = new Set(CASES.map(({ rule }) => rule));
    expect(CHECK_RULES.filter((rule) => !broken.has(rule))).toEqual([]);
  });

  it('is that of docs/gates.md', async () => {
    const page = await readFile(`${PACKAGE_ROOT}/docs/gates.md`, 'utf8');
    const section = page.slice(page.indexOf('## check'), page.indexOf('## probe'));
    const documented = new Set([...section.matchAll(/`([a-z]+\/[a-z-]+)`/g)].map(([, rule]) => rule as string));
    expect([...documented].sort()).toEqual([...CHECK_RULES].sort());
  });
});
