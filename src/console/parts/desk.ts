import type { FactoryStatus } from '../../factory/types.ts';
import { type Html, html, plural } from './html.ts';

/** Rows in the outbox; `hub` null when rows stay here anyway. */
export interface Waiting {
  hub: string | null;
  rows: number;
}

/** The push-buttons. Each keeps its place; one that has nothing to do now is off and says why. */
export function desk({ current, paused, queued, state }: FactoryStatus, { hub, rows }: Waiting): Html {
  const stopping = state === 'stopping';
  return html`<div class="buttons">
${button({
  id: 'start',
  legend: 'Start a shift',
  act: '/api/shifts',
  ask: current ? 'Ask for one more shift?' : 'Start a shift now?',
  told: current ? 'It begins when the one at work has ended.' : 'It is worked like any other and may cost money.',
  yes: 'Start it',
  off: stopping ? 'the factory shuts down' : queued ? 'one waits already' : null,
})}
${button({
  id: 'stop',
  legend: 'Stop the shift',
  act: '/api/shifts/current/stop',
  ask: 'Stop the shift at work?',
  told: 'The agent is ended. Its work is kept, and the next shift continues it.',
  yes: 'Stop it',
  off: current ? null : 'no shift is at work',
})}
${
  paused
    ? button({
        id: 'schedule',
        legend: 'Resume schedule',
        act: '/api/schedule/resume',
        ask: 'Resume the schedule?',
        told: 'Shifts start by themselves again.',
        yes: 'Resume it',
        off: null,
      })
    : button({
        id: 'schedule',
        legend: 'Pause schedule',
        act: '/api/schedule/pause',
        ask: 'Pause the schedule?',
        told: 'A shift at work goes on; no other starts until the schedule is resumed, also over a restart.',
        yes: 'Pause it',
        off: null,
      })
}
${button({
  id: 'outbox',
  legend: 'Retry outbox',
  act: '/api/outbox/retry',
  ask: 'Send the waiting rows now?',
  told: `${plural(rows, 'row')} to ${hub ?? 'nowhere'}.`,
  yes: 'Send them',
  off: hub === null ? 'no hub is configured' : rows === 0 ? 'nothing waits' : current ? 'the shift ships them' : null,
})}
</div>`;
}

function button(of: {
  id: string;
  legend: string;
  act: string;
  ask: string;
  told: string;
  yes: string;
  off: string | null;
}): Html {
  const { id, legend, act, ask, told, yes, off } = of;
  return html`<div class="guarded"><button type="button" class="press" id="press-${id}" data-act="${act}" data-ask="${ask}" data-told="${told}" data-do="${yes}" ${off === null ? '' : html`disabled aria-describedby="off-${id}"`}>${legend}</button><span class="off" id="off-${id}">${off ?? ''}</span></div>`;
}
