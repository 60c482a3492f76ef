import type { FactoryStatus } from '../../factory/types.ts';
import type { Alarm } from '../alarms.ts';
import type { Who } from '../room.ts';
import { type Html, html, nothing, plural } from './html.ts';

/** What every page knows of the room it is in. */
export interface Frame {
  who: Who | null;
  /** `day` or `night` where the visitor overruled the system. */
  light: 'day' | 'night' | null;
  status: FactoryStatus;
  alarms: readonly Alarm[];
  /** The pulse's version when the page was drawn: the script asks again only for a later one. */
  version: number;
}

const PLACES = [
  { href: '/', legend: 'Line' },
  { href: '/shifts', legend: 'Shifts' },
  { href: '/rows', legend: 'Rows' },
  { href: '/shelf/', legend: 'Shelf' },
  { href: '/doctor', legend: 'Doctor' },
] as const;

export type Place = (typeof PLACES)[number]['legend'];

const LIGHTS = [
  { value: '', legend: 'as outside' },
  { value: 'day', legend: 'day' },
  { value: 'night', legend: 'night' },
] as const;

/**
 * A whole page. `live` names what the script follows: the line's log, one shift's, or only that pages change; with `redraw`
 * each line of that log after the given place makes it ask for the page again.
 */
export function page(
  frame: Frame,
  { title, at, live, redraw, body }: { title: string; at: Place | null; live?: string; redraw?: string; body: Html },
): Html {
  return html`<!doctype html>
<html lang="en" ${frame.light ? html`data-room="${frame.light}"` : nothing}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Machinery</title>
<link rel="icon" href="/assets/lamp.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/room.css">
<link rel="stylesheet" href="/assets/wall.css">
<link rel="stylesheet" href="/assets/desk.css">
<link rel="stylesheet" href="/assets/paper.css">
<link rel="stylesheet" href="/assets/reading.css">
<script src="/assets/room.js" type="module"></script>
<script src="/assets/guard.js" type="module"></script>
<script src="/assets/live.js" type="module"></script>
</head>
<body data-signed="${frame.who ? 'yes' : 'no'}" data-version="${frame.version}" ${live === undefined ? nothing : html`data-live="${live}"`} ${redraw === undefined ? nothing : html`data-redraw data-from="${redraw}"`}>
<a class="skip" href="#main">Skip to the page</a>
${lintel(frame, at)}
<main id="main" tabindex="-1">
${body}
</main>
${guard(frame)}
<p id="announce" class="unseen" role="status" aria-live="polite"></p>
</body>
</html>`;
}

function lintel({ who, light, status, alarms }: Frame, at: Place | null): Html {
  const lit = alarms.filter(({ state }) => state === 'new' || state === 'gone').length;
  return html`<header class="lintel">
<p class="maker"><a href="/">Machinery</a><span>Control room</span></p>
<nav aria-label="Rooms"><ul>
${PLACES.map(
  ({ href, legend }) =>
    html`<li><a class="plate" href="${href}" ${legend === at ? html`aria-current="page"` : nothing}>${legend}</a></li>`,
)}
</ul></nav>
<div class="door" data-part="door">
${lit > 0 ? html`<a class="bell" href="/#alarms">${plural(lit, 'alarm')}</a>` : nothing}
<span class="lamp" data-state="${status.state}">${stateWord(status)}</span>
</div>
<div class="switches">
<label for="light">Room</label>
<select id="light" autocomplete="off">
${LIGHTS.map(
  ({ value, legend }) =>
    html`<option value="${value}" ${value === (light ?? '') ? html`selected` : nothing}>${legend}</option>`,
)}
</select>
${
  who
    ? html`<button type="button" class="flat" data-act="/api/sign-out" data-plain title="Signed in as ${who.name}">Sign out</button>`
    : html`<a class="flat" href="/sign-in">Sign in</a>`
}
</div>
</header>`;
}

/** What the factory does, in a word or two. */
export function stateWord({ state, paused, current }: Pick<FactoryStatus, 'state' | 'paused' | 'current'>): string {
  if (state === 'stopping') return 'shutting down';
  if (current) return 'at work';
  return paused ? 'paused' : 'waiting';
}

/** The guard over the desk's buttons: asks once more, and for the token of whoever has not signed in. */
function guard({ who }: Frame): Html {
  return html`<dialog id="guard" class="guard" aria-labelledby="guard-ask">
<form method="dialog">
<h2 id="guard-ask">Do it?</h2>
<p id="guard-told"></p>
${who ? nothing : signInFields('guard')}
<p id="guard-trouble" class="trouble" role="alert" hidden></p>
<div class="choice">
<button type="submit" id="guard-do" class="press" value="do">Do it</button>
<button type="button" id="guard-leave" class="press" value="leave">Leave it</button>
</div>
</form>
</dialog>`;
}

/** Name and token, for the guard and for the sign-in page. */
export function signInFields(prefix: string): Html {
  return html`<div class="sign-in-fields">
<label for="${prefix}-name">Your name, for the record of acts</label>
<input id="${prefix}-name" name="name" autocomplete="nickname" maxlength="40" spellcheck="false">
<label for="${prefix}-token">Console token</label>
<input id="${prefix}-token" name="token" type="password" autocomplete="current-password" required spellcheck="false">
<p class="hint"><code>machinery console-token</code> shows it.</p>
</div>`;
}

/** A page's heading as a legend plate. */
export const heading = (text: string | Html, extra: Html = nothing) =>
  html`<div class="heading"><h1>${text}</h1>${extra}</div>`;
