import type { ShiftRecord, StationRecord } from '../../shift/record.ts';
import type { Alarm } from '../alarms.ts';
import { type Html, elapsed, html, nothing, told } from './html.ts';

/** The line's stations, with what is engraved on their windows. Kept in the order of src/shift/shift.ts; a test holds them together. */
export const LEGENDS: Record<string, string> = {
  staff: 'Staff',
  open: 'Open',
  work: 'Work',
  check: 'Check',
  probe: 'Probe',
  scope: 'Scope',
  land: 'Land',
  export: 'Export',
  ship: 'Ship',
  report: 'Report',
};

const WORDS = { ok: 'passed', failed: 'failed', skipped: 'skipped', running: 'at work', dark: 'not reached' } as const;

/** A station's last attempt in a record, and how many there were. */
function lastAttempt(record: ShiftRecord | null, name: string): StationRecord | null {
  return record?.stations.findLast((station) => station.name === name) ?? null;
}

/** Each station as an annunciator window; dark ones are not reached yet. */
export function stationWindows(record: ShiftRecord | null): Html {
  return html`<ol class="mimic" aria-label="Stations">
${Object.entries(LEGENDS).map(([name, legend]) => stationWindow(name, legend, lastAttempt(record, name), record))}
</ol>`;
}

function stationWindow(name: string, legend: string, station: StationRecord | null, record: ShiftRecord | null): Html {
  // A rework sends the shift back to the work station: what lies behind it is dark again until it is reached anew.
  const stale = station !== null && isStale(record, station);
  const state = station === null || stale ? 'dark' : (station.status ?? 'running');
  const attempt =
    station && station.attempt > 1 && !stale ? html`<span class="again">${ordinal(station.attempt)}</span>` : nothing;
  return html`<li class="station" data-station="${name}">
<div class="window" data-state="${state}" title="${stale ? '' : (station?.summary ?? '')}">
<span class="legend">${legend}</span>
<span class="word">${WORDS[state]}${attempt}</span>
<span class="time">${station === null || stale || state === 'skipped' ? '' : station.status === null ? elapsed(station.startedAt) : told(station.durationMs)}</span>
</div>
</li>`;
}

function isStale(record: ShiftRecord | null, station: StationRecord): boolean {
  const last = record?.stations.at(-1);
  if (!last || last.attempt === station.attempt) return false;
  const order = Object.keys(LEGENDS);
  return order.indexOf(station.name) > order.indexOf('work') && order.indexOf(station.name) <= order.indexOf('land');
}

const ordinal = (n: number) => `${n}${n === 2 ? 'nd' : n === 3 ? 'rd' : 'th'} time`;

const ALARM_WORDS = {
  dark: 'clear',
  new: 'new',
  acknowledged: 'acknowledged',
  gone: 'gone by itself',
} as const;

/** The alarm panel: every window in its place, lit or not, each lit one with what it is about and its button. */
export function alarmWindows(alarms: readonly Alarm[]): Html {
  return html`<ul class="annunciator" aria-label="Alarm windows">
${alarms.map(
  ({ legend, state }) => html`<li class="window alarm" data-state="${state}">
<span class="legend">${legend}</span><span class="word">${ALARM_WORDS[state]}</span>
</li>`,
)}
</ul>
${alarms.filter(({ state }) => state !== 'dark').map(alarmNote)}`;
}

function alarmNote({ name, legend, state, causes, mend, acknowledged }: Alarm): Html {
  return html`<div class="note" data-alarm="${name}">
<h3>${legend}</h3>
<ul>${causes.slice(0, 5).map(({ told: what, link }) => html`<li><a href="${link}">${what}</a></li>`)}
${causes.length > 5 ? html`<li>and ${causes.length - 5} more</li>` : nothing}</ul>
<p class="mend">${mend}</p>
${
  state === 'acknowledged'
    ? html`<p class="small">Acknowledged by ${acknowledged?.by ?? 'somebody'}.</p>`
    : html`<button type="button" class="press small" id="ack-${name}" data-act="/api/alarms/${name}/acknowledge"
 data-ask="Acknowledge “${legend}”?" data-told="The window stays lit, steady, until its cause is gone." data-do="Acknowledge">Acknowledge<span class="unseen"> ${legend}</span></button>`
}
</div>`;
}
