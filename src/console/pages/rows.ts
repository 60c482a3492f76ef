import type { RowSummary } from '../../dataset/summary.ts';
import { filterRows } from '../../dataset/filter.ts';
import { isFinished, tally } from '../../dataset/tally.ts';
import { type Html, bytesTold, count, html, moment, nothing, plural } from '../parts/html.ts';
import { type Frame, heading, page } from '../parts/layout.ts';

export const ROWS_PER_PAGE = 50;

/** The card's filters. */
export interface RowFilter {
  finished: boolean;
  tips: boolean;
  partial: boolean;
  since: string;
  model: string;
  page: number;
}

export function readRowFilter(query: Record<string, string | undefined>): RowFilter {
  return {
    finished: query.finished === '1',
    tips: query.tips === '1',
    partial: query.partial === '1',
    since: /^\d{4}-\d{2}-\d{2}$/.test(query.since ?? '') ? (query.since as string) : '',
    model: (query.model ?? '').slice(0, 200),
    page: Math.max(1, Math.min(10_000, Number.parseInt(query.page ?? '1', 10) || 1)),
  };
}

/** The rows that a filter lets through, newest first. */
export function chosenRows(rows: readonly RowSummary[], filter: RowFilter): RowSummary[] {
  const { finished, tips, partial, since, model } = filter;
  return filterRows(rows, {
    finished,
    tips,
    partial,
    ...(since === '' ? {} : { since: new Date(since) }),
    ...(model === '' ? {} : { model }),
  }).reverse();
}

export interface RowFacts {
  rows: RowSummary[];
  waiting: readonly string[];
  held: readonly { id: string; hits: { rule: string; place: string }[] }[];
  zone: string;
  hub: string | null;
}

export function rowsPage(frame: Frame, facts: RowFacts, filter: RowFilter): Html {
  const found = chosenRows(facts.rows, filter);
  const shown = found.slice((filter.page - 1) * ROWS_PER_PAGE, filter.page * ROWS_PER_PAGE);
  const models = [...new Set(facts.rows.map(({ model }) => model))].sort();
  const sum = tally(found);
  const body = html`${heading('Rows', html`<p class="asked">${plural(found.length, 'row')} of ${facts.rows.length}</p>`)}
${held(facts)}
<form class="slip" method="get" action="/rows" role="search" aria-label="Filter rows">
<fieldset><legend>Only</legend>
${check('finished', 'finished machines', filter.finished)}${check('tips', 'tips of chains', filter.tips)}${check('partial', 'partial rows', filter.partial)}</fieldset>
<div><label for="since">Since (UTC day)</label><input id="since" name="since" type="date" value="${filter.since}"></div>
<div><label for="model">Model</label><select id="model" name="model"><option value="">any</option>${models.map((model) => html`<option ${model === filter.model ? html`selected` : nothing}>${model}</option>`)}</select></div>
<button class="press">Find</button>
</form>
<dl class="facts across">${[
    ['Rows', count(sum.rows)],
    ['Finished', count(sum.finished)],
    ['Tips', count(sum.tips)],
    ['Tokens', count(sum.tokens.input + sum.tokens.output)],
    ['Images viewed', count(sum.looked.views)],
    ['After a change', count(sum.looked.afterChange)],
    ['On disk', bytesTold(sum.bytes)],
  ].map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<section aria-label="Rows">${table(shown, facts)}</section>
${pager(filter, found.length)}`;
  return page(frame, { title: 'Rows', at: 'Rows', live: 'pages', body });
}

const check = (name: string, legend: string, on: boolean) =>
  html`<label class="check"><input type="checkbox" name="${name}" value="1" ${on ? html`checked` : nothing}> ${legend}</label>`;

function held({ held: rows, waiting, hub }: RowFacts): Html {
  return html`${rows.length > 0 ? html`<div class="note bad"><h2>${plural(rows.length, 'row')} held</h2><ul>${rows.map(({ id, hits: [first] }) => html`<li>${id}: ${first ? `${first.rule} in ${first.place}` : 'a secret'}</li>`)}</ul><p class="mend"><code>machinery ship --redact &lt;id&gt;</code> takes it out and ships the row.</p></div>` : nothing}
${hub !== null && waiting.length > 0 ? html`<p class="small">${plural(waiting.length, 'row waits', 'rows wait')} for ${hub}; the button is on <a href="/">the desk</a>.</p>` : nothing}`;
}

function table(rows: readonly RowSummary[], { zone }: RowFacts): Html {
  if (rows.length === 0) return html`<p class="empty">No row here.</p>`;
  return html`<table class="book">
<thead><tr><th scope="col">Row</th><th scope="col">Outcome</th><th scope="col">Machine</th><th scope="col">Model</th><th scope="col">Began</th><th scope="col" class="num">Turns</th><th scope="col" class="num">Looks</th><th scope="col" class="num">Size</th></tr></thead><tbody>
${rows.map((row) => {
  const machine = row.machinery?.machine as { slug?: unknown; name?: unknown } | null | undefined;
  const slug = String(machine?.slug ?? '');
  return html`<tr><th scope="row"><a href="/rows/${row.id}">${row.id}</a>${row.chain.length > 1 ? html` <span class="small">chain of ${row.chain.length}</span>` : nothing}</th>
<td>${row.outcome || (row.complete ? '' : 'cut short')}${isFinished(row) ? html` <span class="verdict" data-verdict="green">finished</span>` : nothing}</td>
<td>${/^[a-z0-9-]+$/.test(slug) ? html`<a href="/shelf/machines/${slug}/">${String(machine?.name ?? slug)}</a>` : nothing}</td>
<td class="what">${row.model}</td><td>${moment(row.started, zone)}</td><td class="num" data-label="turns">${row.counts.messages}</td>
<td class="num" data-label="looks">${row.looked.views > 0 ? html`<a href="/rows/${row.id}/critiques">${row.looked.views}<span class="unseen"> looks of ${row.id}</span></a>` : '0'}</td><td class="num" data-label="size">${bytesTold(row.bytes)}</td></tr>`;
})}
</tbody></table>`;
}

function pager(filter: RowFilter, found: number): Html {
  const pages = Math.ceil(found / ROWS_PER_PAGE);
  if (pages < 2) return nothing;
  const link = (to: number) => {
    const set = Object.entries(filter).flatMap(([key, value]): [string, string][] =>
      value === true ? [[key, '1']] : typeof value === 'string' && value !== '' ? [[key, value]] : [],
    );
    return `/rows?${new URLSearchParams([...set, ['page', String(to)]])}`;
  };
  return html`<nav class="pager" aria-label="Pages">${filter.page > 1 ? html`<a href="${link(filter.page - 1)}">Newer</a>` : nothing}
<span>Page ${filter.page} of ${pages}</span>
${filter.page < pages ? html`<a href="${link(filter.page + 1)}">Older</a>` : nothing}</nav>`;
}
