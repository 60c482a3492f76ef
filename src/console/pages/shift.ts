import { type ShiftRecord, failureOf } from '../../shift/record.ts';
import { placeId } from '../live.ts';
import { logPath, tailLines } from '../log-file.ts';
import type { Room } from '../room.ts';
import { type ShiftSummary, laterOf } from '../shift-book.ts';
import { byRule, downloads, readReports, screenshots } from '../shift-files.ts';
import { findingGroups } from '../parts/findings.ts';
import { type Html, count, dollars, html, moment, nothing, plural, spanMs, told } from '../parts/html.ts';
import { changeSection } from './change.ts';
import { type Frame, heading, page } from '../parts/layout.ts';
import { printer } from '../parts/printer.ts';
import { verdictLamp } from '../parts/shift-table.ts';
import { stationWindows } from '../parts/windows.ts';

/** Lines shown when the page opens; the whole log is a download, and a search reads all of it. */
const ON_PAPER = 500;

/** One shift: the verdict and its reason first, then what the gates found, then how it went. */
export async function shiftPage(
  room: Room,
  frame: Frame,
  record: ShiftRecord,
  shifts: readonly ShiftSummary[],
): Promise<Html> {
  const { data, timezone } = room.config;
  const { id } = record;
  const [reports, shots, files, tail, change, given] = await Promise.all([
    readReports(data, id),
    screenshots(data, id),
    downloads(data, id),
    tailLines(logPath(data, id), ON_PAPER),
    room.line.change(record).catch(() => undefined),
    record.carried === undefined ? [] : readReports(data, record.carried),
  ]);
  const running = record.verdict === null;
  const later = record.commit === null ? laterOf(record, shifts) : undefined;
  const body = html`${heading(html`Shift ${id}`, verdictLamp(record.verdict))}
${verdict(record, later)}
${reports.length === 0 && record.carried !== undefined ? carried(record.carried, given) : findings(record, reports, shots)}
<section class="wall" data-part="wall" aria-label="How far it came">${stationWindows(record)}</section>
<section data-part="stations" aria-labelledby="stations-legend"><h2 class="tag" id="stations-legend">Stations</h2>${stations(record)}</section>
<section data-part="facts" aria-labelledby="facts-legend"><h2 class="tag" id="facts-legend">Facts</h2>${facts(room, record, timezone)}</section>
${changeSection(record, change ?? null, { trouble: change === undefined, later })}
${conversation(record)}
${shots.length > 0 ? html`<section data-part="shots" aria-labelledby="shots-legend"><h2 class="tag" id="shots-legend">Screenshots</h2><ul class="shots">${shots.map((name) => html`<li><a href="/shifts/${id}/${name}"><img src="/shifts/${id}/${name}" alt="${name}" loading="lazy"></a><span>${name}</span></li>`)}</ul></section>` : nothing}
<section class="log" aria-labelledby="log-legend"><h2 class="tag" id="log-legend">Log</h2>
<form class="slip" method="get" action="/shifts/${id}/log" role="search" aria-label="Search the log"><div class="wide"><label for="find">Search the whole log</label><input id="find" name="text" type="search"></div><button class="press">Search</button></form>
${printer(tail.lines, placeId({ shift: id, byte: tail.next }), running ? 'Live log' : 'End of the log', timezone)}
<p class="more">Download ${files.map((name, at) => html`${at > 0 ? ', ' : ''}<a href="/shifts/${id}/${name}" download="${id}-${name}">${name}</a>`)}</p></section>`;
  return page(frame, {
    title: `Shift ${id}, ${record.verdict ?? 'at work'}`,
    at: 'Shifts',
    live: running ? id : 'pages',
    body,
  });
}

function verdict(record: ShiftRecord, later: ShiftSummary | undefined): Html {
  const failed = failureOf(record);
  const error =
    record.verdict === 'red' || record.verdict === 'interrupted' || record.verdict === null ? failed?.error : undefined;
  return html`<section class="state" data-part="state" data-verdict="${record.verdict ?? 'running'}" aria-label="Verdict">
<p class="now"><b>${record.verdict ?? 'At work'}</b>${record.reason ? html`: ${record.reason}` : nothing}</p>
${error ? html`<p class="mend"><b>What to do:</b> ${whatToDo(record, error, later)} <code>${error.code}</code></p>` : nothing}
${record.commit && record.machine ? html`<p class="before"><a href="/shelf/machines/${record.machine}/">See it run on the shelf</a>, or <a href="#change">what it changed</a>.</p>` : nothing}
</section>`;
}

function whatToDo(
  { branch, quarantined = [], dropped = false }: ShiftRecord,
  { code, mend }: { code: string; mend: string },
  later: ShiftSummary | undefined,
): Html {
  const finding = code.startsWith('gate/') ? html`read <a href="#findings">what the gates found</a>. ` : nothing;
  if (later)
    return html`${finding}<a href="/shifts/${later.id}">Shift ${later.id}</a> went on with its work: ${later.commit ? `${later.machine} landed` : (later.verdict ?? 'at work')}.`;
  if (finding === nothing || (branch !== null && quarantined.includes(branch))) return html`${finding}${mend}`;
  return html`${finding}${dropped ? 'It made nothing to go on with: the next shift begins afresh.' : 'The next shift continues the work with it.'}`;
}

function findings(record: ShiftRecord, reports: Awaited<ReturnType<typeof readReports>>, shots: string[]): Html {
  const groups = byRule(reports);
  if (reports.length === 0) return nothing;
  return html`<section id="findings" data-part="findings" aria-labelledby="findings-legend"><h2 class="tag" id="findings-legend">What the gates found</h2>
${groups.length === 0 ? html`<p class="empty">${reports.map(({ gate }) => gate).join(', ')}: nothing.</p>` : findingGroups(record.id, groups, shots)}</section>`;
}

/** What an earlier shift's gates found and the agent was given, where this shift ended before its own. */
function carried(from: string, given: Awaited<ReturnType<typeof readReports>>): Html {
  if (given.length === 0) return nothing;
  return html`<section id="findings" data-part="findings" aria-labelledby="findings-legend"><h2 class="tag" id="findings-legend">What it was to mend</h2>
<p>Its gates were not reached. This is what those of <a href="/shifts/${from}#findings">shift ${from}</a> found.</p>
${findingGroups(from, byRule(given), [])}</section>`;
}

function stations(record: ShiftRecord): Html {
  return html`<table class="book"><thead><tr><th scope="col">Station</th><th scope="col">Came to</th><th scope="col">Summary</th><th scope="col" class="num">Took</th></tr></thead><tbody>
${record.stations.map(
  ({ name, attempt, status, summary, durationMs, error }) =>
    html`<tr data-status="${status ?? 'running'}"><th scope="row">${name}${attempt > 1 ? ` (${attempt})` : ''}</th><td>${status ?? 'at work'}</td><td class="what">${summary}${error ? html`<details><summary>${error.code}</summary><p class="pre">${error.message}</p><p class="mend">${error.mend}</p></details>` : nothing}</td><td class="num">${status === 'skipped' ? '' : told(durationMs)}</td></tr>`,
)}
</tbody></table>`;
}

function facts(room: Room, record: ShiftRecord, zone: string): Html {
  const { usage } = record;
  const rows: [string, Html | string | null][] = [
    ['Began', moment(record.startedAt, zone)],
    ['Took', record.endedAt === null ? null : told(spanMs(record.startedAt, record.endedAt))],
    [
      'Machine',
      record.machine &&
        (record.commit ? html`<a href="/shelf/machines/${record.machine}/">${record.machine}</a>` : record.machine),
    ],
    ['Landed as', record.commit && html`<code>${record.commit}</code> on ${room.config.branch}`],
    ['Order', record.order?.title ?? null],
    [
      'Harness',
      record.harness &&
        `${record.harness} ${record.harnessVersion ?? ''}${record.harnessWhy ? ` (${record.harnessWhy})` : ''}`,
    ],
    ['Confined by', record.sandbox],
    ['Model', record.model && `${record.model} of ${record.provider}`],
    ['Agent', record.outcome],
    [
      'Branch',
      record.branch &&
        `${record.branch}${record.continued > 1 ? `, continued ${plural(record.continued, 'time')}` : ''}`,
    ],
    [
      'Set aside',
      record.quarantined?.length
        ? html`${record.quarantined.join(', ')}: <a href="/#aside">release it or drop it</a> where it still is`
        : null,
    ],
    ['Base', record.base && html`<code>${record.base}</code>`],
    [
      'Tokens',
      usage.requests > 0
        ? `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out, ${plural(usage.requests, 'request')}`
        : null,
    ],
    ['Cost', dollars(usage.dollars)],
  ];
  return html`<dl class="facts">${rows.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function conversation({ id, session, branch, chain, verdict: ended }: ShiftRecord): Html {
  // Until a branch is open no agent can have begun.
  if (session === null && branch === null) return nothing;
  const read =
    ended !== null && session !== null
      ? html`<a href="/shifts/${id}/conversation">Read the conversation, turn by turn</a>, or <a href="/rows/${session}/critiques">only where the model looked at its design</a>.`
      : html`<a href="/shifts/${id}/conversation">Read the conversation${ended === null ? ' as it goes on' : ''}, turn by turn</a>.`;
  return html`<section data-part="conversation" aria-labelledby="conversation-legend"><h2 class="tag" id="conversation-legend">Conversation</h2>
<p>${read}</p>
${chain.length > 1 ? html`<p>Chain: ${chain.map((id, at) => html`${at > 0 ? ' → ' : ''}<a href="/rows/${id}">${id}</a>`)}</p>` : nothing}</section>`;
}
