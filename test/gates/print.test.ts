import { describe, expect, it } from 'vitest';
import type { GateReport } from '../../src/gates/finding.ts';
import { printReport, showsColour } from '../../src/gates/print.ts';

const REPORT: GateReport = {
  gate: 'check',
  ok: false,
  machines: ['ice-plant', 'tug'],
  findings: [
    { rule: 'catalogue/json', severity: 'error', machine: '', message: 'not JSON', file: 'machines.json', line: 3 },
    {
      rule: 'script/api',
      severity: 'error',
      machine: 'tug',
      message: 'nothing assigns',
      file: 'machines/tug/machine.js',
    },
    { rule: 'panel/control-kinds', severity: 'warning', machine: 'tug', message: 'two\nlines \u001b[31mred' },
  ],
  durationMs: 1234,
};

describe('a printed report', () => {
  it('groups findings by machine, with file and line, and counts last', () => {
    expect(printReport(REPORT, { colour: false, site: 'site/' })).toBe(`the shelf
  error    catalogue/json  site/machines.json:3
           not JSON

tug
  error    script/api  site/machines/tug/machine.js
           nothing assigns
  warning  panel/control-kinds
           two
           lines \ufffd[31mred

check failed: 2 machines, 2 errors, 1 warning, 1.2 s
`);
  });

  it('is one line when there is nothing to say', () => {
    const fine = { ...REPORT, ok: true, machines: ['tug'], findings: [], durationMs: 42 };
    expect(printReport(fine, { colour: false })).toBe('check ok: 1 machine, no errors, 42 ms\n');
  });

  it('is the same text under its colours', () => {
    const coloured = printReport(REPORT, { colour: true });
    expect(coloured).toContain('\u001b[31merror');
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(printReport(REPORT, { colour: false }));
  });

  it('is coloured on a terminal only, and not where colour is unwanted', () => {
    const terminal = { isTTY: true } as NodeJS.WriteStream;
    expect(showsColour(terminal, {})).toBe(true);
    expect(showsColour(terminal, { NO_COLOR: '1' })).toBe(false);
    expect(showsColour(terminal, { TERM: 'dumb' })).toBe(false);
    expect(showsColour({ isTTY: false } as NodeJS.WriteStream, {})).toBe(false);
  });
});
