import { FactoryError } from '../support/errors.ts';
import type { RowSummary } from './summary.ts';
import { isFinished, superseded } from './tally.ts';

/** The card's Filtering section, and what an operator asks for beside it. All that are given must hold. */
export interface Filter {
  /** Finished machines only. */
  finished?: boolean;
  /** Only rows that no other row's chain contains. */
  tips?: boolean;
  /** Only rows whose session has no result. */
  partial?: boolean;
  /** Only rows that ended at this time or later. */
  since?: Date;
  /** Only rows of this model. */
  model?: string;
}

/** Keeps the rows that a filter asks for, in their order. */
export function filterRows(rows: readonly RowSummary[], filter: Filter): RowSummary[] {
  const old = filter.tips ? superseded(rows) : new Set<string>();
  const { since, model } = filter;
  return rows.filter(
    (row) =>
      !old.has(row.id) &&
      (!filter.finished || isFinished(row)) &&
      (!filter.partial || !row.complete) &&
      (since === undefined || Date.parse(row.ended) >= since.getTime()) &&
      (model === undefined || row.model === model),
  );
}

/** Reads `2026-05-04`, an RFC 3339 time, or a length back from now: `36h`, `7d`. @throws FactoryError `usage/invalid`. */
export function sinceOf(text: string, now: Date = new Date()): Date {
  const back = /^(\d+)([hd])$/.exec(text);
  if (back) return new Date(now.getTime() - Number(back[1]) * (back[2] === 'h' ? 3_600_000 : 86_400_000));
  const at = new Date(text);
  if (!Number.isNaN(at.getTime()) && /^\d{4}-\d\d-\d\d/.test(text)) return at;
  throw new FactoryError('usage/invalid', {
    message: `\`${text}\` is not a time`,
    mend: 'Give a day (2026-05-04), a time (2026-05-04T12:00:00Z), or how far back (36h, 7d).',
  });
}
