import { html } from 'hono/html';
import { told } from '../../config/units.ts';

/** A piece of a page. Everything put into an `html` template is escaped unless it is such a piece itself. */
export type Html = ReturnType<typeof html>;

export { html, told };

export const nothing = html``;

/** `1 word`, `2 words`. */
export const plural = (n: number, word: string, many = `${word}s`) => `${n} ${n === 1 ? word : many}`;

/** Milliseconds between two moments; to now when the second is null. */
export function spanMs(from: string, to: string | null, now = Date.now()): number {
  const span = (to === null ? now : Date.parse(to)) - Date.parse(from);
  return Number.isFinite(span) && span > 0 ? span : 0;
}

/** `2026-12-01 02:30` in a time zone; a moment that is none is told as it is. */
export function moment(at: string | null, zone: string): string {
  const date = new Date(at ?? '');
  if (at === null || Number.isNaN(date.getTime())) return at ?? '';
  // Swedish dates are ISO dates.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(date);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** `02:30:05` in a time zone; '' for a moment that is none. Logs have thousands, and a formatter is dear to make. */
export function clockTime(at: string, zone: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const known = clocks.get(zone) ?? new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'medium' });
  clocks.set(zone, known);
  return known.format(date);
}

/** A duration that goes on: the script keeps it going from its beginning. */
export function elapsed(since: string, now = Date.now()): Html {
  return html`<time class="elapsed" data-since="${since}">${told(Math.floor(spanMs(since, null, now) / 1000) * 1000)}</time>`;
}

/** US dollars. */
export const dollars = (amount: number | null) => (amount === null ? '' : `$${amount.toFixed(2)}`);

/** `1.2 MB`, decimal units. */
export function bytesTold(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [amount, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB'];
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

/** Whole numbers with thin spaces between thousands. */
export const count = (n: number) => String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');
