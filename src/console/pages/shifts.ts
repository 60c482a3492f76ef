import { VERDICTS } from '../../shift/record.ts';
import type { Room } from '../room.ts';
import type { ShiftSummary } from '../shift-book.ts';
import { stripChart } from '../parts/chart.ts';
import { type Html, html, nothing, plural } from '../parts/html.ts';
import { type Frame, heading, page } from '../parts/layout.ts';
import { shiftTable } from '../parts/shift-table.ts';

export const PER_PAGE = 50;

/** What shifts are asked for; from a query string, so every part can be nonsense. */
export interface ShiftFilter {
  verdict: string;
  /** In its id, reason, machine, model, branch or session. */
  text: string;
  /** `YYYY-MM-DD`: shifts of that UTC day and later. */
  since: string;
  page: number;
}

export function readFilter(query: Record<string, string | undefined>): ShiftFilter {
  const verdict = query.verdict ?? '';
  return {
    verdict: [...VERDICTS, 'running'].some((word) => word === verdict) ? verdict : '',
    text: (query.text ?? '').slice(0, 200).trim(),
    since: /^\d{4}-\d{2}-\d{2}$/.test(query.since ?? '') ? (query.since as string) : '',
    page: Math.max(1, Math.min(10_000, Number.parseInt(query.page ?? '1', 10) || 1)),
  };
}

/** The shifts that a filter lets through, newest first; not yet cut to a page. */
export function filterShifts(shifts: readonly ShiftSummary[], { verdict, text, since }: ShiftFilter): ShiftSummary[] {
  const from = since.replaceAll('-', '');
  const word = text.toLowerCase();
  return shifts.filter(
    (shift) =>
      (verdict === '' || (shift.verdict ?? 'running') === verdict) &&
      (from === '' || shift.id >= from) &&
      (word === '' ||
        [shift.id, shift.reason, shift.machine, shift.model, shift.branch, shift.session].some((part) =>
          part?.toLowerCase().includes(word),
        )),
  );
}

export async function shiftsPage(room: Room, frame: Frame, shifts: ShiftSummary[], filter: ShiftFilter): Promise<Html> {
  const found = filterShifts(shifts, filter);
  const shown = found.slice((filter.page - 1) * PER_PAGE, filter.page * PER_PAGE);
  const body = html`${heading('Shifts', html`<p class="asked">${plural(found.length, 'shift')} of ${shifts.length}</p>`)}
<form class="slip" method="get" action="/shifts" role="search" aria-label="Filter shifts">
<div><label for="verdict">Verdict</label><select id="verdict" name="verdict"><option value="">any</option>
${[...VERDICTS, 'running'].map((word) => html`<option ${word === filter.verdict ? html`selected` : nothing}>${word}</option>`)}</select></div>
<div><label for="since">Since (UTC day)</label><input id="since" name="since" type="date" value="${filter.since}"></div>
<div class="wide"><label for="text">Machine, model, reason, branch, session or id</label><input id="text" name="text" type="search" value="${filter.text}"></div>
<button class="press">Find</button>
</form>
<section class="strip" aria-labelledby="strip-legend"><h2 class="tag" id="strip-legend">Length and cost</h2>${stripChart(shown, room.config.timezone)}</section>
<section data-part="shifts" aria-label="Shifts">${shiftTable(shown, room.config.timezone)}</section>
${pager(filter, found.length)}`;
  return page(frame, { title: 'Shifts', at: 'Shifts', live: 'pages', body });
}

function pager(filter: ShiftFilter, found: number): Html {
  const pages = Math.ceil(found / PER_PAGE);
  if (pages < 2) return nothing;
  const link = (to: number) => {
    const { verdict, text, since } = filter;
    return `/shifts?${new URLSearchParams({ ...(verdict ? { verdict } : {}), ...(text ? { text } : {}), ...(since ? { since } : {}), page: String(to) })}`;
  };
  return html`<nav class="pager" aria-label="Pages">
${filter.page > 1 ? html`<a href="${link(filter.page - 1)}">Newer</a>` : nothing}
<span>Page ${filter.page} of ${pages}</span>
${filter.page < pages ? html`<a href="${link(filter.page + 1)}">Older</a>` : nothing}
</nav>`;
}
