import type { ShiftSummary } from '../shift-book.ts';
import { type Html, count, dollars, elapsed, html, moment, nothing, spanMs, told } from './html.ts';

/** A verdict as a small lamp with its word. */
export const verdictLamp = (verdict: ShiftSummary['verdict']) =>
  html`<span class="verdict" data-verdict="${verdict ?? 'running'}">${verdict ?? 'at work'}</span>`;

/** Shifts as pages of the shift book, newest first. */
export function shiftTable(shifts: readonly ShiftSummary[], zone: string): Html {
  if (shifts.length === 0) return html`<p class="empty">No shift here.</p>`;
  return html`<table class="book">
<thead><tr><th scope="col">Shift</th><th scope="col">Verdict</th><th scope="col">What became of it</th><th scope="col">Began</th><th scope="col" class="num">Took</th><th scope="col" class="num">Tokens</th><th scope="col" class="num">Cost</th></tr></thead>
<tbody>
${shifts.map(
  (shift) => html`<tr data-verdict="${shift.verdict ?? 'running'}">
<th scope="row"><a href="/shifts/${shift.id}">${shift.id}</a></th>
<td>${verdictLamp(shift.verdict)}</td>
<td class="what">${shift.verdict === null ? 'being worked now' : shift.reason}${shift.findings > 0 && shift.verdict === 'red' ? html` <a href="/shifts/${shift.id}#findings">findings: ${shift.findings}</a>` : nothing}</td>
<td><time datetime="${shift.startedAt}">${moment(shift.startedAt, zone)}</time></td>
<td class="num" data-label="took">${shift.endedAt === null ? elapsed(shift.startedAt) : told(spanMs(shift.startedAt, shift.endedAt))}</td>
<td class="num" data-label="tokens">${shift.tokens === 0 ? '' : count(shift.tokens)}</td>
<td class="num" data-label="cost">${dollars(shift.dollars)}</td>
</tr>`,
)}
</tbody></table>`;
}
