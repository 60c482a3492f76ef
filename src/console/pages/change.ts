import type { Change, ChangedFile } from '../../line/change.ts';
import { shown } from '../../line/tree.ts';
import type { ShiftRecord } from '../../shift/record.ts';
import type { ShiftSummary } from '../shift-book.ts';
import { type Html, bytesTold, html, nothing, plural } from '../parts/html.ts';
import { type Frame, heading, page } from '../parts/layout.ts';

/** A file's text is cut on the page after so many characters or lines, and not read at all past so many bytes. */
const LONGEST = 200_000;
const MOST_LINES = 5000;
export const LARGEST_FILE = 4 * 1024 * 1024;

/** Only what is below `site/` lands; anything else a shift wrote is left out of it. */
const lands = ({ path, mode }: ChangedFile) => path.startsWith('site/') && mode.startsWith('100');

/** What a shift did to the factory's files, on its page: names, sizes, lines, each a link to its text. */
export function changeSection(
  record: ShiftRecord,
  change: Change | null,
  { trouble, later }: { trouble: boolean; later?: ShiftSummary | undefined },
): Html {
  // Idle, or it ended before a branch was opened: there is nothing to look for.
  if (record.branch === null && record.commit === null) return nothing;
  const running = record.verdict === null && record.commit === null;
  const legend = record.commit
    ? 'The change it landed'
    : running
      ? 'The change so far'
      : 'The change that would have landed';
  return html`<section id="change" data-part="change" aria-labelledby="change-legend"><h2 class="tag" id="change-legend">${legend}</h2>
${change === null ? html`<p class="empty">${trouble ? 'The git dir could not be read: machinery doctor says more.' : missing(running, record, later)}</p>` : changeTable(record, change)}</section>`;
}

function missing(running: boolean, record: ShiftRecord, later: ShiftSummary | undefined): Html | string {
  if (running) return 'Nothing is kept yet: the first snapshot has not been taken.';
  if (later)
    return html`Its work is with <a href="/shifts/${later.id}#change">shift ${later.id}</a>${later.commit ? ', and landed there' : nothing}.`;
  return `Nothing of it is here: ${record.branch ?? 'its branch'} held no work, landed with a later shift, or was dropped.`;
}

function changeTable(record: ShiftRecord, { files, more, landed, commit }: Change): Html {
  if (files.length === 0) return html`<p class="empty">No file differs.</p>`;
  return html`<table class="book"><thead><tr><th scope="col">File</th><th scope="col">What</th><th scope="col" class="num">Lines</th><th scope="col" class="num">Size</th></tr></thead><tbody>
${files.map(
  (file) => html`<tr><th scope="row" class="what">${name(record.id, file)}</th>
<td>${file.how}${landed || lands(file) ? nothing : html` <span class="small">stays out of the landing</span>`}</td>
<td class="num" data-label="lines">${linesTold(file)}</td><td class="num" data-label="size">${bytesTold(file.size)}</td></tr>`,
)}
</tbody></table>
<p class="small">${more > 0 ? html`and ${plural(more, 'file')} more. ` : nothing}${landed ? 'Commit' : 'Snapshot'} <code>${commit.slice(0, 12)}</code>.</p>`;
}

function name(shift: string, file: ChangedFile): Html {
  const kind = { '120000': ' (a link)', '160000': ' (a repository of its own)' }[file.mode] ?? '';
  const path = `${shown(file.path)}${kind}`;
  return file.mode === '160000'
    ? html`<code>${path}</code>`
    : html`<a href="/shifts/${shift}/change/${file.id}"><code>${path}</code></a>`;
}

function linesTold({ lines, how }: ChangedFile): string {
  if (lines === null) return '';
  if (how === 'added') return String(lines.added);
  if (how === 'removed') return `−${lines.removed}`;
  return [lines.added > 0 && `+${lines.added}`, lines.removed > 0 && `−${lines.removed}`].filter(Boolean).join(' ');
}

/** What a file's page shows: its bytes, or how they changed; null where it is too large to read. */
export interface FileShown {
  file: ChangedFile;
  bytes: Buffer | null;
  difference: string | null;
}

/** One file of a change, as text. What it holds was written by the agent: it is shown and never run. */
export function changedFilePage(frame: Frame, record: ShiftRecord, { file, bytes, difference }: FileShown): Html {
  const facts = [file.how, bytesTold(file.size), linesTold(file) && `${linesTold(file)} lines`].filter(Boolean);
  const body = html`${heading(html`Shift ${record.id}`, html`<p class="asked"><code>${shown(file.path)}</code></p>`)}
<p class="ways"><a href="/shifts/${record.id}#change">The shift’s change</a> <span>${facts.join(', ')}</span></p>
${
  difference !== null
    ? differenceTold(difference)
    : bytes === null
      ? html`<p class="empty">Too large to be shown here.</p>`
      : bytes.includes(0)
        ? html`<p class="empty">No text: ${bytesTold(bytes.length)} of something else.</p>`
        : textTold(bytes.toString('utf8'))
}`;
  return page(frame, { title: `${shown(file.path)}, shift ${record.id}`, at: 'Shifts', body });
}

function textTold(text: string): Html {
  if (text === '') return html`<p class="empty">An empty file.</p>`;
  return listing('Text', text, (line) => html`<li>${line}</li>`);
}

function differenceTold(difference: string): Html {
  return listing('What changed', difference, (line) => html`<li data-line="${lineKind(line)}">${line}</li>`);
}

function listing(legend: string, text: string, told: (line: string) => Html): Html {
  const lines = text.slice(0, LONGEST).replace(/\n$/, '').split('\n');
  const shownLines = lines.slice(0, MOST_LINES);
  const whole = text.length <= LONGEST && lines.length <= MOST_LINES;
  return html`<ol class="listing" tabindex="0" aria-label="${legend}">${shownLines.map(told)}</ol>
${whole ? nothing : html`<p class="small">The rest is left out: ${plural(text.length, 'character')} in all.</p>`}`;
}

const lineKind = (line: string) =>
  line.startsWith('+') ? 'came' : line.startsWith('-') ? 'went' : line.startsWith('@') ? 'place' : 'same';
