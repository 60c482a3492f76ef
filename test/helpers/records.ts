import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ShiftRecord, shiftFolder, shiftRecord } from '../../src/shift/record.ts';

/** A record of a shift that landed, as far as a test does not say otherwise. */
export function recordOf(id: string, differs: Partial<ShiftRecord> = {}): ShiftRecord {
  return shiftRecord.parse({
    id,
    factory: '0123456789ab',
    verdict: 'green',
    reason: 'kestrel landed',
    startedAt: '2026-05-04T12:00:00.000Z',
    endedAt: '2026-05-04T12:30:00.000Z',
    worker: { pid: 1, host: 'elsewhere' },
    order: null,
    harness: 'builtin',
    harnessVersion: '0.1.0',
    harnessWhy: null,
    sandbox: 'none',
    provider: 'rehearsal',
    model: 'rehearsal',
    session: null,
    chain: [],
    outcome: 'settled',
    branch: `shift/${id}`,
    continued: 0,
    base: null,
    commit: null,
    machine: 'kestrel',
    usage: { requests: 3, inputTokens: 1000, outputTokens: 200, dollars: null },
    findings: {},
    stations: [],
    ...differs,
  });
}

/** Puts a record into a data folder, with other files of the shift's beside it. */
export function keepRecord(data: string, record: ShiftRecord, files: Record<string, string> = {}): void {
  const folder = shiftFolder(data, record.id);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({ 'shift.json': JSON.stringify(record), ...files }))
    writeFileSync(join(folder, name), text);
}
