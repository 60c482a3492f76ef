import { type ShiftRecord, compareIds, failureOf, listShifts, readRecord } from '../shift/record.ts';

/** What lists and charts tell of a shift; small, because thousands are kept in memory. */
export interface ShiftSummary {
  id: string;
  verdict: ShiftRecord['verdict'];
  reason: string;
  startedAt: string;
  endedAt: string | null;
  machine: string | null;
  model: string | null;
  provider: string | null;
  session: string | null;
  branch: string | null;
  commit: string | null;
  dollars: number | null;
  tokens: number;
  /** The station that the verdict is about, when one failed. */
  failed: string | null;
  /** Findings of all gates together. */
  findings: number;
}

/** Files read at once when the book is opened on a full folder. */
const BATCH = 64;

/** Every shift on disk, summed up. An ended record never changes, so it is read once. */
export class ShiftBook {
  readonly #data: string;
  readonly #ended = new Map<string, ShiftSummary>();

  constructor(data: string) {
    this.#data = data;
  }

  /** All shifts, newest first. A record that cannot be read is left out. */
  async list(): Promise<ShiftSummary[]> {
    const ids = (await listShifts(this.#data)).reverse();
    const there = new Set(ids);
    for (const id of this.#ended.keys()) if (!there.has(id)) this.#ended.delete(id);
    const unknown = ids.filter((id) => !this.#ended.has(id));
    const fresh = new Map<string, ShiftSummary>();
    for (let at = 0; at < unknown.length; at += BATCH) {
      const records = await Promise.all(unknown.slice(at, at + BATCH).map((id) => readRecord(this.#data, id)));
      for (const record of records) if (record) fresh.set(record.id, summarise(record));
    }
    for (const summary of fresh.values()) if (summary.verdict !== null) this.#ended.set(summary.id, summary);
    return ids.flatMap((id) => this.#ended.get(id) ?? fresh.get(id) ?? []);
  }

  /** Whether a shift has its verdict; also true when its record is gone. */
  async hasEnded(id: string): Promise<boolean> {
    if (this.#ended.has(id)) return true;
    const record = await this.read(id);
    if (record && record.verdict !== null) this.#ended.set(id, summarise(record));
    return record === null || record.verdict !== null;
  }

  /** A shift's whole record, or null. */
  read(id: string): Promise<ShiftRecord | null> {
    return readRecord(this.#data, id);
  }
}

/** The newest shift that went on with another's branch; undefined when none did, or its record is gone. */
export function laterOf(record: ShiftRecord, shifts: readonly ShiftSummary[]): ShiftSummary | undefined {
  if (record.branch === null) return undefined;
  return shifts.find(({ id, branch }) => branch === record.branch && compareIds(id, record.id) > 0);
}

export function summarise(record: ShiftRecord): ShiftSummary {
  const { id, verdict, reason, startedAt, endedAt, machine, model, provider, session, branch, commit, usage } = record;
  return {
    ...{ id, verdict, reason, startedAt, endedAt, machine, model, provider, session, branch, commit },
    dollars: usage.dollars,
    tokens: usage.inputTokens + usage.outputTokens,
    failed: failureOf(record)?.name ?? null,
    findings: Object.values(record.findings).reduce((sum, count) => sum + count, 0),
  };
}
