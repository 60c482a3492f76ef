import type { ShiftSummary } from '../shift-book.ts';
import { type Html, clockTime, html, plural, spanMs, told } from './html.ts';

/** A day of shifts at one every half hour. */
export const ON_PAPER = 48;

const STEP = 20;
const LEFT = 54;
const RIGHT = 54;
const TOP = 34;
const BOTTOM = 150;
const WIDTH = LEFT + ON_PAPER * STEP + RIGHT;

/** Round numbers that a scale may end at, in minutes. */
const SCALES = [1, 2, 5, 10, 20, 30, 60, 90, 120, 240, 480];

/** A strip of chart paper: a violet stroke a shift for its length, a red line for its cost, its verdict as a stamp above. */
export function stripChart(shifts: readonly ShiftSummary[], zone: string, now = Date.now()): Html {
  const shown = shifts.slice(0, ON_PAPER).reverse();
  const minutes = shown.map(({ startedAt, endedAt }) => spanMs(startedAt, endedAt, now) / 60_000);
  const longest = Math.max(0.1, ...minutes);
  const scale = SCALES.find((each) => each >= longest) ?? Math.ceil(longest / 60) * 60;
  const costs = shown.map(({ dollars }) => dollars ?? 0);
  const dearest = Math.max(0, ...costs);
  const x = (at: number) => LEFT + (at + 0.5 + ON_PAPER - shown.length) * STEP;
  const y = (share: number) => BOTTOM - share * (BOTTOM - TOP);
  const priced = shown.some(({ dollars }) => dollars !== null);
  const ink = costs.map((cost, at) => `${x(at)},${y(dearest === 0 ? 0 : (cost / dearest) * 0.9).toFixed(1)}`).join(' ');
  return html`<div class="chart" tabindex="0" role="region" aria-label="Strip chart, scrolls sideways">
<svg viewBox="0 0 ${WIDTH} 172" role="img" aria-label="${summary(shown)}">
<rect class="paper" width="${WIDTH}" height="172"/>
${Array.from({ length: ON_PAPER + 1 }, (_, n) => html`<line class="${n % 2 === 0 ? 'rule' : 'rule fine'}" x1="${LEFT + n * STEP}" x2="${LEFT + n * STEP}" y1="${TOP}" y2="${BOTTOM}"/>`)}
${[0, 0.25, 0.5, 0.75, 1].map((share) => html`<line class="rule" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(share)}" y2="${y(share)}"/>`)}
${holes()}
<text class="scale" x="${LEFT - 6}" y="${y(1) + 4}" text-anchor="end">${scale} min</text>
<text class="scale" x="${LEFT - 6}" y="${y(0)}" text-anchor="end">0</text>
${priced ? html`<text class="scale red" x="${WIDTH - RIGHT + 6}" y="${y(0.9) + 4}">$${dearest.toFixed(2)}</text>` : ''}
${shown.map((_, at) => html`<line class="ink" x1="${x(at)}" x2="${x(at)}" y1="${y(0)}" y2="${y((minutes[at] ?? 0) / scale).toFixed(1)}"/>`)}
${priced ? html`<polyline class="ink-cost" points="${ink}"/>` : ''}
${shown.map(({ verdict }, at) => stamp(verdict, x(at)))}
${shown.map(({ startedAt }, at) => ((shown.length - at) % 6 === 1 ? html`<text class="hour" x="${x(at)}" y="166" text-anchor="middle">${clockTime(startedAt, zone).slice(0, 5)}</text>` : ''))}
</svg></div>
<p class="key" aria-hidden="true"><span class="k green">green</span><span class="k red">red</span><span class="k idle">idle</span><span class="k cut">interrupted</span><span class="k length">length</span><span class="k cost">cost</span></p>`;
}

/** The verdict's stamp: each has its own shape, so that the colour is not needed. */
function stamp(verdict: ShiftSummary['verdict'], x: number): Html {
  if (verdict === 'green') return html`<circle class="stamp green" cx="${x}" cy="18" r="6"/>`;
  if (verdict === 'red') return html`<rect class="stamp red" x="${x - 6}" y="12" width="12" height="12"/>`;
  if (verdict === 'idle') return html`<circle class="stamp idle" cx="${x}" cy="18" r="4"/>`;
  if (verdict === 'interrupted') return html`<path class="stamp cut" d="M ${x - 5} 13 l 10 10 m 0 -10 l -10 10"/>`;
  return html`<path class="stamp running" d="M ${x - 5} 12 l 10 6 l -10 6 z"/>`;
}

/** The perforation that the chart's sprocket runs in. */
function holes(): Html {
  const at = Array.from({ length: Math.floor(WIDTH / 16) }, (_, n) => n * 16 + 8);
  return html`${at.map((x) => html`<circle class="hole" cx="${x}" cy="4" r="2"/>`)}`;
}

function summary(shown: readonly ShiftSummary[]): string {
  if (shown.length === 0) return 'No shift yet';
  const of = (verdict: string) => shown.filter((shift) => shift.verdict === verdict).length;
  const longest = Math.max(...shown.map(({ startedAt, endedAt }) => spanMs(startedAt, endedAt)));
  return `The last ${plural(shown.length, 'shift')}: ${of('green')} green, ${of('red')} red, ${of('idle')} idle, ${of('interrupted')} interrupted; the longest took ${told(longest)}`;
}
