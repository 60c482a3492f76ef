import { createReadStream } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { told } from '../config/units.ts';
import type { Finding, GateReport } from '../gates/finding.ts';
import {
  type ShiftRecord,
  type StationRecord,
  failureOf,
  listShifts,
  readRecord,
  shiftFolder,
} from '../shift/record.ts';
import { FactoryError } from '../support/errors.ts';
import { plain, styled } from './print.ts';

const GATES = ['check', 'probe', 'scope'] as const;
const COLOURS = { error: 'red', warning: 'yellow', note: 'dim' } as const;
const say = (text = '') => process.stdout.write(`${text}\n`);

/** Shows one shift to a person, or its log lines as JSON. @throws FactoryError `shift/unknown`. */
export async function showShift(
  data: string,
  asked: string,
  options: { station?: string; json?: boolean },
): Promise<void> {
  const ids = await listShifts(data);
  const id = asked === 'last' ? ids.at(-1) : ids.find((each) => each === asked);
  const record = id === undefined ? null : await readRecord(data, id);
  if (id === undefined || record === null) throw unknown(asked, ids);
  const folder = shiftFolder(data, id);
  if (options.json) return lines(folder, options.station, (line) => say(line));
  if (options.station) {
    await gate(folder, options.station);
    return lines(folder, options.station, (_, entry) => say(`${time(entry.time)}  ${plain(String(entry.msg ?? ''))}`));
  }
  heading(record);
  let reached = false;
  for (const name of GATES) reached = (await gate(folder, name)) || reached;
  if (record.carried !== undefined && !reached) await carried(data, record.carried);
  stations(record);
  await places(folder);
}

function unknown(asked: string, ids: string[]): FactoryError {
  return new FactoryError('shift/unknown', {
    message: ids.length === 0 ? 'no shift has been worked yet' : `there is no shift ${asked}`,
    mend:
      ids.length === 0
        ? 'Work one: machinery shift'
        : `The last ones are ${ids.slice(-3).join(', ')}; \`machinery shifts\` lists them all.`,
  });
}

function heading(record: ShiftRecord): void {
  const verdict = record.verdict ?? 'running';
  const colour = { green: 'green', red: 'red', idle: 'yellow', interrupted: 'yellow', running: 'cyan' } as const;
  say(`shift ${record.id}  ${styled([colour[verdict], 'bold'], verdict)}  ${plain(record.reason)}`);
  const failed = failureOf(record);
  if (failed?.error && record.verdict !== 'green') {
    say(`\n${failed.name} failed: ${plain(failed.error.message)}`);
    say(`mend: ${plain(failed.error.mend)}`);
  }
}

/** What an earlier shift's gates found and the agent was given, where this shift ended before its own. */
async function carried(data: string, from: string): Promise<void> {
  say(`\nits gates were not reached; the agent was to mend what those of shift ${from} found`);
  for (const name of GATES) await gate(shiftFolder(data, from), name);
}

/** A gate's findings, when it has any: errors first, each with its place. @returns whether the gate ran. */
async function gate(folder: string, name: string): Promise<boolean> {
  const report = await readFile(join(folder, `${name}.json`), 'utf8')
    .then((text) => JSON.parse(text) as GateReport)
    .catch(() => null);
  if (!report || report.findings.length === 0) return report !== null;
  say(`\n${name}: ${report.findings.length} finding${report.findings.length === 1 ? '' : 's'}`);
  const rank = { error: 0, warning: 1, note: 2 };
  for (const finding of [...report.findings].sort((a, b) => rank[a.severity] - rank[b.severity]))
    say(oneFinding(finding));
  return true;
}

function oneFinding({ severity, rule, machine, message, file, line }: Finding): string {
  const place = file ? `  ${file}${line ? `:${line}` : ''}` : '';
  return `  ${styled(COLOURS[severity], severity.padEnd(7))} ${rule}  ${plain(machine)}${plain(place)}\n          ${plain(message)}`;
}

function stations(record: ShiftRecord): void {
  say('\nstations');
  const row = ({ name, attempt, status, durationMs, summary }: StationRecord) =>
    `  ${(attempt > 1 ? `${name} (${attempt})` : name).padEnd(11)} ${(status ?? 'running').padEnd(8)} ${told(durationMs).padStart(8)}  ${plain(summary)}`;
  for (const station of record.stations) say(row(station));
  const facts = [
    ['harness', record.harness && `${record.harness} ${record.harnessVersion ?? ''}`],
    ['model', record.model && `${record.model} of ${record.provider}`],
    ['session', record.chain.join(' → ') || null],
    ['branch', record.branch],
    ['commit', record.commit],
    ['tokens', record.usage.requests > 0 ? `${record.usage.inputTokens} in, ${record.usage.outputTokens} out` : null],
  ].filter(([, value]) => value);
  if (facts.length > 0) say();
  for (const [name, value] of facts) say(`  ${String(name).padEnd(11)} ${plain(String(value))}`);
}

async function places(folder: string): Promise<void> {
  const names = await readdir(folder);
  const shots = names.filter((name) => name.endsWith('.png')).sort();
  if (shots.length > 0) say(`\nscreenshots\n${shots.map((name) => `  ${join(folder, name)}`).join('\n')}`);
  say(
    `\nfiles\n${names
      .filter((name) => !name.endsWith('.png') && !name.startsWith('.'))
      .sort()
      .map((name) => `  ${join(folder, name)}`)
      .join('\n')}`,
  );
}

const time = (at: unknown) => String(at ?? '').slice(11, 19);

/** Walks log.ndjson; a half-written last line is passed over. */
async function lines(
  folder: string,
  station: string | undefined,
  each: (line: string, entry: Record<string, unknown>) => void,
): Promise<void> {
  const input = createReadStream(join(folder, 'log.ndjson'));
  input.on('error', () => {});
  for await (const line of createInterface({ input })) {
    try {
      const entry = JSON.parse(line) as Record<string, unknown>;
      if (station === undefined || entry.station === station) each(line, entry);
    } catch {
      // the process died while it wrote this line
    }
  }
}
