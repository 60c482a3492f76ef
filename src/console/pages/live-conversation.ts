import type { ShiftRecord } from '../../shift/record.ts';
import type { LiveTurn, Session, SessionTail } from '../session-tail.ts';
import { type Html, clockTime, html, nothing, plural } from '../parts/html.ts';
import { type Frame, heading, page } from '../parts/layout.ts';
import { turn } from './conversation.ts';

/** Turns on the page: what is read at a glance; the rest is behind the link to what came before. */
export const LIVE_TURNS = 40;

/**
 * The conversation of a shift as its session's log has it now, the newest turn first: the log is still being written.
 * @param place the place in the shift's own log after which a line may mean a new turn.
 */
export function liveConversationPage(
  frame: Frame,
  record: ShiftRecord,
  session: Session | null,
  { turns, from, broken }: SessionTail,
  { before, place, zone }: { before: number | null; place: string; zone: string },
): Html {
  const { id } = record;
  const atWork = record.verdict === null;
  const newest = before === null;
  const state = atWork ? 'as it goes on, the newest turn first' : 'the newest turn first';
  const body = html`${heading(html`Conversation of ${id}`, html`<p class="asked">${state}</p>`)}
<p class="ways"><a href="/shifts/${id}">The shift</a>${newest ? nothing : html` <a href="/shifts/${id}/conversation">The newest turns</a>`}</p>
<div data-part="said">
${session === null ? html`<p class="empty">The agent has not begun.</p>` : turns.length === 0 ? html`<p class="empty">Nothing was said yet.</p>` : nothing}
${broken > 0 ? html`<p class="small">${plural(broken, 'line')} of the log cannot be read and ${broken === 1 ? 'is' : 'are'} left out.</p>` : nothing}</div>
<ol class="turns" data-part="turns" data-grow aria-label="Turns">${turns.toReversed().map((each) => liveTurn(id, zone, each))}</ol>
<p class="more" data-part="earlier">${from > 0 ? html`<a href="/shifts/${id}/conversation?before=${from}">What came before</a>` : nothing}</p>`;
  const live = newest && atWork ? { live: id, redraw: place } : {};
  return page(frame, { title: `Conversation of ${id}`, at: 'Shifts', ...live, body });
}

function liveTurn(shift: string, zone: string, { place, at, message }: LiveTurn): Html {
  const id = `turn-at-${place}`;
  if (message.type === 'reset')
    return html`<li id="${id}" class="turn" data-role="system"><p class="whose">Here the conversation was begun anew; what came before is no longer in the model’s sight.</p></li>`;
  return turn({ id, mark: clockTime(at, zone) || 'at', images: `/shifts/${shift}/seen/` }, message);
}
