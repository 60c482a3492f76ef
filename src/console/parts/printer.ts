import type { LogLine, PlacedLine } from '../log-file.ts';
import { type Html, clockTime, html, nothing } from './html.ts';

const LEVELS = [
  [50, 'error'],
  [40, 'warning'],
  [30, 'told'],
] as const;

export const levelOf = ({ level }: LogLine) => LEVELS.find(([from]) => level >= from)?.[1] ?? 'agent';

/** One printed line. The script prints the same: time, station, text. */
export function printed({ line }: Pick<PlacedLine, 'line'>, zone: string): Html {
  return html`<li data-level="${levelOf(line)}" ${line.activity ? html`data-activity="${line.activity}"` : nothing}><span class="at">${clockTime(line.at, zone)}</span> <span class="from">${line.station || (line.activity ? line.activity : '')}</span> <span class="text">${line.text}</span></li>`;
}

/** The teleprinter: the newest lines of a log, and the place from which the script goes on. */
export function printer(lines: readonly PlacedLine[], place: string, legend: string, zone: string): Html {
  return html`<div class="printer">
<div class="platen"><h2 data-part="paper">${legend}</h2>
<label class="follow"><input type="checkbox" id="follow" checked> Follow</label></div>
<ol id="paper" class="roll" tabindex="0" aria-label="${legend}" data-from="${place}" data-zone="${zone}">${lines.map((line) => printed(line, zone))}</ol>
</div>`;
}
