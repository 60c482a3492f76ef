import type { FactoryStatus } from '../../factory/types.ts';
import type { SetAside } from '../../line/set-aside.ts';
import type { ShiftRecord } from '../../shift/record.ts';
import type { Alarm } from '../alarms.ts';
import type { Act } from '../act-log.ts';
import { placeId } from '../live.ts';
import { logPath, tailLines } from '../log-file.ts';
import type { Room } from '../room.ts';
import type { ShiftSummary } from '../shift-book.ts';
import { stripChart } from '../parts/chart.ts';
import { clock } from '../parts/clock.ts';
import { type Html, elapsed, html, moment, nothing, plural } from '../parts/html.ts';
import { type Frame, heading, page } from '../parts/layout.ts';
import { printer } from '../parts/printer.ts';
import { shiftTable } from '../parts/shift-table.ts';
import { alarmWindows, stationWindows } from '../parts/windows.ts';
import { type Waiting, desk } from '../parts/desk.ts';

/** Lines on the teleprinter's paper when a page is opened. */
const ON_PAPER = 200;
const LAST_SHIFTS = 10;

export interface LineFacts {
  shifts: ShiftSummary[];
  aside: SetAside[];
  waiting: Waiting;
  acts: Act[];
}

/** The line now: is it running, what does it do, what went wrong, what to do. */
export async function linePage(room: Room, frame: Frame, facts: LineFacts): Promise<Html> {
  const { status, alarms } = frame;
  const zone = room.config.timezone;
  const record = await shownRecord(room, status, facts.shifts);
  const shift = record?.id ?? null;
  const tail = shift === null ? { lines: [], next: 0 } : await tailLines(logPath(room.config.data, shift), ON_PAPER);
  const body = html`${heading('The line', html`<p class="asked">${status.version} on ${status.host}</p>`)}
${state(status, facts.shifts, alarms, zone)}
<section class="wall" data-part="wall" aria-label="The line">${stationWindows(record)}
<p class="whose">${record ? whose(record, status) : 'No shift has been worked yet.'}</p></section>
<div class="bay">
<section class="desk" data-part="desk" aria-label="The desk">${clock(status, zone)}${desk(status, facts.waiting)}</section>
<section class="log" aria-label="Live log">${printer(tail.lines, shift === null ? '' : placeId({ shift, byte: tail.next }), status.current ? 'Live log' : 'Log of the last shift', zone)}</section>
<section class="alarms" id="alarms" data-part="alarms" aria-labelledby="alarms-legend"><h2 class="tag" id="alarms-legend">Alarms</h2>${alarmWindows(alarms)}
${asideList(facts.aside, zone)}</section>
</div>
<section class="strip" data-part="strip" aria-labelledby="strip-legend"><h2 class="tag" id="strip-legend">Length and cost of the last shifts</h2>${stripChart(facts.shifts, zone)}</section>
<section data-part="last" aria-labelledby="last-legend"><h2 class="tag" id="last-legend">Last shifts</h2>${shiftTable(facts.shifts.slice(0, LAST_SHIFTS), zone)}
<p class="more"><a href="/shifts">All shifts</a></p></section>
${actList(facts.acts, zone)}`;
  return page(frame, { title: 'The line', at: 'Line', live: 'line', body });
}

/** The shift at work; between shifts the last one, whose windows stay lit until the next begins. */
async function shownRecord(
  room: Room,
  { current }: FactoryStatus,
  shifts: ShiftSummary[],
): Promise<ShiftRecord | null> {
  if (current) return current.record;
  const [last] = shifts;
  return last ? room.book.read(last.id) : null;
}

/** The first thing that is read: one sentence, and what to do when something is to be done. */
function state(status: FactoryStatus, shifts: ShiftSummary[], alarms: readonly Alarm[], zone: string): Html {
  const { current, paused, queued, nextTick } = status;
  const last = shifts.find(({ verdict }) => verdict !== null);
  const station = current?.record?.stations.at(-1);
  const trouble = alarms.find(({ name, state: lit }) => name === 'shift-red' && lit !== 'dark' && lit !== 'gone');
  const now = current
    ? html`<b>At work</b>: station ${station?.name ?? 'staff'}, ${elapsed(current.since)} into the shift that ${current.by} asked for`
    : paused
      ? html`<b>Paused</b> since ${moment(paused.since, zone)} by ${paused.by}: no shift starts by itself`
      : html`<b>Waiting</b>${nextTick ? html` for the shift of ${moment(nextTick, zone).slice(11)}` : ''}`;
  return html`<section class="state" data-part="state" data-state="${trouble ? 'trouble' : current ? 'working' : paused ? 'paused' : status.state}" aria-label="State">
<p class="now">${now}.${queued ? html` Another shift waits (${queued.by}).` : nothing}</p>
${current ? html`<p class="doing"><span class="tag">Agent</span> <span id="doing">${current.activity?.text ?? 'not started yet'}</span>${current.record ? html` <a class="along" href="/shifts/${current.record.id}/conversation">Read along</a>` : nothing}</p>` : nothing}
${last ? html`<p class="before">Last: <a href="/shifts/${last.id}">${last.id}</a> <span class="verdict" data-verdict="${last.verdict ?? ''}">${last.verdict}</span> ${last.reason}</p>` : nothing}
${trouble ? html`<p class="mend"><b>What to do:</b> <a href="${trouble.causes[0]?.link ?? '/shifts'}">open the red shift</a>; its findings and the mend stand first.</p>` : nothing}
</section>`;
}

function whose(record: ShiftRecord, status: FactoryStatus): Html {
  const model = record.model ? html` with ${record.model} of ${record.provider}` : nothing;
  const at = status.current ? 'Shift' : 'Last shift:';
  return html`${at} <a href="/shifts/${record.id}">${record.id}</a>${model}${record.machine ? html`, machine ${record.machine}` : nothing}`;
}

/** Branches set aside, each with the two things that can be done with it. */
function asideList(aside: readonly SetAside[], zone: string): Html {
  if (aside.length === 0) return nothing;
  return html`<div class="note" id="aside"><h3>${plural(aside.length, 'branch', 'branches')} set aside</h3><ul>
${aside.map(({ branch, shift, at }) => {
  const id = branch.replace(/^quarantine\//, '');
  return html`<li><a href="/shifts/${shift}">${branch}</a>, ${moment(at.toISOString(), zone)}
<span class="pair"><button type="button" class="press small" id="release-${id}" data-act="/api/set-aside/${id}/release" data-ask="Release ${branch}?" data-told="The next shift continues the work on it." data-do="Release it">Release<span class="unseen"> ${branch}</span></button>
<button type="button" class="press small" id="drop-${id}" data-act="/api/set-aside/${id}/drop" data-ask="Drop ${branch}?" data-told="The branch is deleted here and at the origin. Its row and its shifts' records stay." data-do="Drop it">Drop<span class="unseen"> ${branch}</span></button></span></li>`;
})}
</ul></div>`;
}

function actList(acts: readonly Act[], zone: string): Html {
  if (acts.length === 0) return nothing;
  return html`<section data-part="acts" aria-labelledby="acts-legend"><h2 class="tag" id="acts-legend">Done from here</h2><table class="book"><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th></tr></thead><tbody>
${acts.map(({ at, by, act, what }) => html`<tr><td><time datetime="${at}">${moment(at, zone)}</time></td><td>${by}</td><td class="what">${act}${what ? html`: ${what}` : nothing}</td></tr>`)}
</tbody></table></section>`;
}
