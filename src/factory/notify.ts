import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/load.ts';
import { type ShiftRecord, type Verdict, compareIds, failureOf, listShifts, readRecord } from '../shift/record.ts';
import { redactor } from '../support/redact.ts';
import type { FactoryEvent } from './types.ts';

/** What a webhook is sent, as JSON; docs/operating.md tells it to operators. */
interface Notification {
  /** The whole of it in one line, as Slack and those compatible with it show it. */
  text: string;
  event: 'red' | 'quarantine' | 'recovery';
  factory: string;
  shift: string;
  verdict: Verdict | null;
  reason: string;
  /** The station that failed, and its error; for `red` only. */
  station?: string;
  error?: { code: string; message: string; mend: string };
  machine: string | null;
  branch: string | null;
  commit: string | null;
  startedAt: string;
  endedAt: string | null;
  /** Where the control room shows the shift; with `console.public_url` only. */
  url?: string;
}

export interface Notifier {
  observe(event: FactoryEvent): void;
  /** Waits for what is being sent, at most so long, and gives the rest up. */
  close(waitMs?: number): Promise<void>;
}

/** Waits before the second try, the third… A receiver that is down for some minutes still hears of it. */
const BACKOFF_MS = [1000, 5000, 30_000, 120_000];
const PATIENCE_MS = 10_000;
/** A receiver's `Retry-After` is believed up to this. */
const LONGEST_WAIT_MS = 10 * 60_000;
/** How far back the verdict before is looked for: idle and interrupted shifts in between say nothing. */
const BEFORE = 200;

/** Calls the configured webhooks when a shift was red, a branch went to quarantine, or a shift was green again. */
export function createNotifier(
  config: Config,
  log: Pick<Logger, 'info' | 'warn'>,
  { backoffMs = BACKOFF_MS }: { backoffMs?: readonly number[] } = {},
): Notifier {
  const abort = new AbortController();
  const sending = new Set<Promise<void>>();
  // The addresses themselves are among the secrets: as good as a password, they are neither logged nor told.
  const redact = redactor(config.secrets.map(({ value }) => value));
  const track = (work: Promise<void>) => {
    const tracked = work
      .catch((error: unknown) => log.warn({ err: error }, 'a notification failed'))
      .finally(() => sending.delete(tracked));
    sending.add(tracked);
  };
  return {
    observe(event) {
      if (event.type !== 'end' || config.webhooks.length === 0) return;
      track(
        (async () => {
          for (const notification of await notificationsOf(config, event.record)) {
            const body = redact(JSON.stringify(notification));
            const told = { shift: notification.shift, event: notification.event };
            for (const address of config.webhooks)
              track(deliver(address, body, backoffMs, { log, told, signal: abort.signal }));
          }
        })(),
      );
    },
    async close(waitMs = 5000) {
      const late = sleep(waitMs, undefined, { ref: false }).then(() => abort.abort());
      while (sending.size > 0 && !abort.signal.aborted) await Promise.race([Promise.all(sending), late]);
      await Promise.all(sending);
    },
  };
}

async function notificationsOf(config: Config, record: ShiftRecord): Promise<Notification[]> {
  const kinds: Notification['event'][] = [];
  if (record.verdict === 'red') kinds.push('red');
  if (record.quarantined?.length) kinds.push('quarantine');
  if (record.verdict === 'green' && (await verdictBefore(config.data, record.id)) === 'red') kinds.push('recovery');
  return kinds.map((event) => notification(config, event, record));
}

/** The last verdict before a shift that says how the line is: green or red. */
async function verdictBefore(data: string, id: string): Promise<Verdict | null> {
  const earlier = (await listShifts(data)).filter((other) => compareIds(other, id) < 0).slice(-BEFORE);
  for (const other of earlier.reverse()) {
    const verdict = (await readRecord(data, other))?.verdict;
    if (verdict === 'green' || verdict === 'red') return verdict;
  }
  return null;
}

function notification(config: Config, event: Notification['event'], record: ShiftRecord): Notification {
  const failed = failureOf(record);
  const url = config.console.public_url && `${config.console.public_url.replace(/\/+$/, '')}/shifts/${record.id}`;
  const what = {
    red: `Shift ${record.id} is red: ${record.reason}`,
    quarantine: `Moved to quarantine in shift ${record.id}: ${record.quarantined?.join(', ')}`,
    recovery: `Shift ${record.id} is green again: ${record.reason}`,
  }[event];
  const mend = event === 'red' && failed?.error ? ` Mend: ${failed.error.mend}` : '';
  return {
    text: `${slackSafe(`${what}.${mend}`)}${url ? ` <${url}|Show it>` : ''}`,
    event,
    factory: record.factory,
    shift: record.id,
    verdict: record.verdict,
    reason: record.reason,
    ...(event === 'red' && failed ? { station: failed.name } : {}),
    ...(event === 'red' && failed?.error ? { error: failed.error } : {}),
    machine: record.machine,
    branch: record.branch,
    commit: record.commit,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    ...(url ? { url } : {}),
  };
}

/** Text from agents must not become a link or call everybody (`<!channel>`): Slack's own three escapes. */
function slackSafe(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

interface Delivery {
  log: Pick<Logger, 'info' | 'warn'>;
  told: object;
  signal: AbortSignal;
}

async function deliver(address: string, body: string, backoffMs: readonly number[], at: Delivery): Promise<void> {
  const { log, signal } = at;
  const told = { ...at.told, receiver: new URL(address).host };
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const { done, why, waitMs } = await post(address, body, signal);
    if (done) return void log.info(told, 'a webhook was told');
    const wait = backoffMs[attempt];
    if (wait === undefined || waitMs === null)
      return void log.warn({ ...told, attempts: attempt + 1, why }, 'a webhook could not be told');
    await sleep(Math.max(wait, waitMs), undefined, { signal }).catch(() => {});
  }
  log.warn({ ...told, why: 'the factory stopped' }, 'a webhook could not be told');
}

/** One try. `waitMs` is null when trying again is of no use. */
async function post(
  address: string,
  body: string,
  signal: AbortSignal,
): Promise<{ done: boolean; why: string; waitMs: number | null }> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    await response.body?.cancel();
    const { status } = response;
    const again = status >= 500 || status === 408 || status === 425 || status === 429;
    const after = Math.min((Number(response.headers.get('retry-after')) || 0) * 1000, LONGEST_WAIT_MS);
    return { done: response.ok, why: `it answered ${status}`, waitMs: again ? after : null };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { done: false, why: cause?.code ?? message, waitMs: 0 };
  }
}
