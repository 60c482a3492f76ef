import { styleText } from 'node:util';
import type { Finding, GateReport, Severity } from './finding.ts';

/** A gate's report as a person reads it. */

export interface PrintOptions {
  /** Only for a terminal. */
  colour: boolean;
  /** Put before each file's name, so that a terminal can open it; '' or unset leaves names relative to the site. */
  site?: string;
}

const STYLE = { error: 'red', warning: 'yellow', note: 'dim' } as const;
const SEVERITIES: readonly Severity[] = ['error', 'warning', 'note'];

/** Whether a stream shows colour: a terminal that was not told to go without. */
export function showsColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

/**
 * Renders a report: the findings of each machine under its name, one block each, and a last line that counts.
 * Ends in a newline.
 */
export function printReport(report: GateReport, options: PrintOptions): string {
  const style = (name: Parameters<typeof styleText>[0], text: string) =>
    options.colour ? styleText(name, text, { validateStream: false }) : text;
  const lines: string[] = [];
  for (const [machine, findings] of grouped(report.findings)) {
    lines.push(style('bold', machine === '' ? 'the shelf' : plain(machine)));
    for (const finding of findings) {
      lines.push(
        `  ${style(STYLE[finding.severity], finding.severity.padEnd(7))}  ${finding.rule}${placeOf(finding, options, style)}`,
      );
      lines.push(
        ...plain(finding.message)
          .split('\n')
          .map((line) => `           ${line}`),
      );
    }
    lines.push('');
  }
  lines.push(style(report.ok ? 'green' : 'red', summaryOf(report)));
  return `${lines.join('\n')}\n`;
}

/** The last line: what was judged, what was found, how long it took. */
export function summaryOf(report: GateReport): string {
  const counts = SEVERITIES.map((severity) => {
    const count = report.findings.filter((finding) => finding.severity === severity).length;
    return severity === 'error' || count > 0 ? plural(count, severity) : '';
  }).filter(Boolean);
  const machines = plural(report.machines.length, 'machine');
  const took = report.durationMs < 1000 ? `${report.durationMs} ms` : `${(report.durationMs / 1000).toFixed(1)} s`;
  return `${report.gate} ${report.ok ? 'ok' : 'failed'}: ${machines}, ${counts.join(', ')}, ${took}`;
}

function plural(count: number, noun: string): string {
  return `${count === 0 ? 'no' : count} ${noun}${count === 1 ? '' : 's'}`;
}

function grouped(findings: readonly Finding[]): Map<string, Finding[]> {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const group = groups.get(finding.machine);
    if (group) group.push(finding);
    else groups.set(finding.machine, [finding]);
  }
  return groups;
}

function placeOf(
  { file, line }: Finding,
  { site }: PrintOptions,
  style: (name: 'cyan', text: string) => string,
): string {
  if (file === undefined) return '';
  const path = site ? `${site.replace(/\/+$/, '')}/${file}` : file;
  return `  ${style('cyan', plain(line === undefined ? path : `${path}:${line}`))}`;
}

/** Text that came from a machine, without what a terminal would obey. */
function plain(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
}
