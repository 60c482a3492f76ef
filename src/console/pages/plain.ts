import type { LogLine } from '../log-file.ts';
import type { Examination } from '../room.ts';
import { type Html, html, nothing, plural } from '../parts/html.ts';
import { type Frame, heading, page, signInFields } from '../parts/layout.ts';
import { printed } from '../parts/printer.ts';

/** The small pages: the doctor's, the sign-in, a search in a log, and what is said where nothing is. */

const ORDER = { broken: 0, warning: 1, ok: 2 } as const;

/** What the doctor found, the worst first. */
export function doctorPage(frame: Frame, examined: readonly Examination[] | null): Html {
  const sorted = [...(examined ?? [])].sort((a, b) => ORDER[a.state] - ORDER[b.state]);
  const bad = sorted.filter(({ state }) => state !== 'ok').length;
  const told =
    examined === null
      ? 'not in service here'
      : bad === 0
        ? 'all is well'
        : plural(bad, 'thing needs you', 'things need you');
  const body = html`${heading('Doctor', html`<p class="asked">${told}</p>`)}
${examined === null ? html`<p class="empty">Run <code>machinery doctor</code> on the factory's machine.</p>` : nothing}
<ul class="examined">${sorted.map(
    ({ name, state, told: words, mend }) =>
      html`<li class="examination" data-state="${state}"><span class="window" data-state="${state}"><span class="legend">${name}</span><span class="word">${state}</span></span><div><p>${words}</p>${mend ? html`<p class="mend">${mend}</p>` : nothing}</div></li>`,
  )}</ul>`;
  return page(frame, { title: 'Doctor', at: 'Doctor', body });
}

export function signInPage(frame: Frame, next: string): Html {
  const body = html`${heading('Sign in')}
<form id="sign-in" class="slip tall" data-next="${next}" method="post" action="/sign-in">
${signInFields('sign-in')}
<p id="sign-in-trouble" class="trouble" role="alert" hidden></p>
<button class="press">Sign in</button>
<noscript><p class="trouble">Signing in needs the page's script.</p></noscript>
</form>`;
  return page(frame, { title: 'Sign in', at: null, body });
}

/** What a search in a log found. */
export interface Found {
  text: string;
  lines: readonly LogLine[];
  more: boolean;
  zone: string;
}

export function foundPage(frame: Frame, shift: string, { text, lines, more, zone }: Found): Html {
  const body = html`${heading(html`Shift ${shift}`, html`<p class="asked">${plural(lines.length, 'line')} with “${text}”</p>`)}
<form class="slip" method="get" action="/shifts/${shift}/log" role="search" aria-label="Search the log"><div class="wide"><label for="find">Search the whole log</label><input id="find" name="text" type="search" value="${text}"></div><button class="press">Search</button></form>
<div class="printer"><ol class="roll whole" tabindex="0" aria-label="Lines found">${lines.map((line) => printed({ line }, zone))}</ol></div>
${more ? html`<p class="small">There are more; the first ${lines.length} are shown.</p>` : nothing}
<p class="more"><a href="/shifts/${shift}">Back to the shift</a></p>`;
  return page(frame, { title: `Log of ${shift}`, at: 'Shifts', body });
}

export function nothingPage(frame: Frame, told: string, mend: string): Html {
  const body = html`${heading('Nothing here')}<p>${told}</p><p class="mend">${mend}</p><p class="more"><a href="/">The line</a></p>`;
  return page(frame, { title: 'Nothing here', at: null, body });
}
