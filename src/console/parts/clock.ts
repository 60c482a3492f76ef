import type { FactoryStatus } from '../../factory/types.ts';
import { type Html, html, moment } from './html.ts';

/** Hours, minutes and seconds in a time zone. */
function handsOf(at: Date, zone: string): { hours: number; minutes: number; seconds: number } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
    .formatToParts(at)
    .reduce<Record<string, number>>((all, { type, value }) => Object.assign(all, { [type]: Number(value) }), {});
  return { hours: parts.hour ?? 0, minutes: parts.minute ?? 0, seconds: parts.second ?? 0 };
}

const point = (turn: number, radius: number) => {
  const angle = (turn - 0.25) * 2 * Math.PI;
  return `${(100 + radius * Math.cos(angle)).toFixed(2)} ${(100 + radius * Math.sin(angle)).toFixed(2)}`;
};

/** The arc on the minute ring from now to the next shift; none when it is an hour away or more. */
export function arcOf(nowTurn: number, nextTurn: number, aheadMs: number): string {
  if (aheadMs <= 0 || aheadMs >= 3_600_000) return '';
  const large = (nextTurn - nowTurn + 1) % 1 > 0.5 ? 1 : 0;
  return `M ${point(nowTurn, 78)} A 78 78 0 ${large} 1 ${point(nextTurn, 78)}`;
}

/** The works clock in the schedule's time zone, with the way to the next shift inked on its minute ring. */
export function clock({ nextTick, paused }: FactoryStatus, zone: string, now = new Date()): Html {
  const { hours, minutes, seconds } = handsOf(now, zone);
  const turn = (minutes + seconds / 60) / 60;
  const next = nextTick === null ? null : new Date(nextTick);
  const nextHands = next && handsOf(next, zone);
  const arc =
    next && nextHands
      ? arcOf(turn, (nextHands.minutes + nextHands.seconds / 60) / 60, next.getTime() - now.getTime())
      : '';
  return html`<div class="clock">
<svg viewBox="0 0 200 200" aria-hidden="true" data-clock data-zone="${zone}" data-next="${nextTick ?? ''}">
<circle class="case" cx="100" cy="100" r="98"/><circle class="face" cx="100" cy="100" r="90"/>
${Array.from({ length: 60 }, (_, n) => html`<line class="${n % 5 === 0 ? 'hour-mark' : 'minute-mark'}" x1="100" x2="100" y1="14" y2="${n % 5 === 0 ? 30 : 19}" transform="rotate(${n * 6} 100 100)"/>`)}
<path class="ahead" d="${arc}"/>
<rect class="hand" data-hand="hours" x="96.5" y="50" width="7" height="62" transform="rotate(${((hours % 12) + minutes / 60) * 30} 100 100)"/>
<rect class="hand" data-hand="minutes" x="97.5" y="24" width="5" height="90" transform="rotate(${turn * 360} 100 100)"/>
<line class="second-hand" data-hand="seconds" x1="100" x2="100" y1="30" y2="118" transform="rotate(${seconds * 6} 100 100)"/>
<circle class="hub" cx="100" cy="100" r="5"/>
</svg>
<p class="next"><span class="tag">Next shift</span>
${next ? html`<b><time datetime="${nextTick}">${moment(nextTick, zone).slice(11)}</time></b> <span class="countdown" data-until="${nextTick}">${untilTold(next, now)}</span>` : html`<b>${paused ? 'paused' : 'none'}</b>`}
</p><p class="zone">${zone}</p>
</div>`;
}

/** `in 12 min`; the script says it the same way. */
export function untilTold(next: Date, now: Date): string {
  const minutes = Math.ceil((next.getTime() - now.getTime()) / 60_000);
  if (minutes <= 0) return 'now';
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}
