import type { RowSummary } from './summary.ts';

/** What some rows come to. */
export interface Tally {
  rows: number;
  /** Rows that no other row's chain contains. */
  tips: number;
  finished: number;
  /** Rows whose session has no result. */
  partial: number;
  /** By the result's reason; '' for none. */
  outcomes: Record<string, number>;
  /** Sum of `ended - started`, in seconds. */
  seconds: number;
  tokens: { input: number; output: number };
  /** US dollars, of the rows that say. */
  cost: number;
  calls: number;
  images: number;
  looked: { views: number; afterChange: number };
  /** Findings by rule. */
  findings: Record<string, number>;
  bytes: number;
}

/** The card's filter for finished machines. */
export function isFinished({ complete, machinery }: RowSummary): boolean {
  return (
    complete &&
    machinery?.outcome === 'settled' &&
    machinery.catalogue_check === 'success' &&
    machinery.probe === 'success'
  );
}

/** The ids that appear in another row's chain: their rows are superseded. */
export function superseded(rows: readonly Pick<RowSummary, 'id' | 'chain'>[]): Set<string> {
  return new Set(rows.flatMap(({ id, chain }) => chain.filter((other) => other !== id)));
}

function seconds({ started, ended }: RowSummary): number {
  const length = (Date.parse(ended) - Date.parse(started)) / 1000;
  return Number.isFinite(length) && length > 0 ? length : 0;
}

function add(to: Record<string, number>, key: string, count = 1): void {
  to[key] = (to[key] ?? 0) + count;
}

/** Sums rows up. */
export function tally(rows: readonly RowSummary[], old: ReadonlySet<string> = superseded(rows)): Tally {
  const sum: Tally = {
    ...{ rows: rows.length, tips: 0, finished: 0, partial: 0, outcomes: {}, seconds: 0 },
    ...{ tokens: { input: 0, output: 0 }, cost: 0, calls: 0, images: 0 },
    ...{ looked: { views: 0, afterChange: 0 }, findings: {}, bytes: 0 },
  };
  for (const row of rows) {
    if (!old.has(row.id)) sum.tips += 1;
    if (isFinished(row)) sum.finished += 1;
    if (!row.complete) sum.partial += 1;
    add(sum.outcomes, row.outcome);
    sum.seconds += seconds(row);
    sum.tokens.input += row.tokens.input;
    sum.tokens.output += row.tokens.output;
    sum.cost += row.cost ?? 0;
    sum.calls += row.counts.calls;
    sum.images += row.counts.images;
    sum.looked.views += row.looked.views;
    sum.looked.afterChange += row.looked.afterChange;
    for (const [rule, count] of Object.entries(row.machinery?.findings ?? {})) add(sum.findings, rule, count);
    sum.bytes += row.bytes;
  }
  return sum;
}

/** Sums rows up by model, the one with the most rows first. */
export function tallyByModel(rows: readonly RowSummary[]): { provider: string; model: string; tally: Tally }[] {
  const old = superseded(rows);
  const groups = new Map<string, RowSummary[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.provider, row.model]);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups]
    .map(([key, group]) => {
      const [provider, model] = JSON.parse(key) as [string, string];
      return { provider, model, tally: tally(group, old) };
    })
    .sort((a, b) => b.tally.rows - a.tally.rows);
}
