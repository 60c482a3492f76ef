import { listShifts, readRecord } from '../../shift/record.ts';
import { type Examiner, ok, warning } from '../examination.ts';
import type { Config } from '../../config/load.ts';
import { resolveUpstream } from '../../harness/providers.ts';

/** Ids, schedule and the age of branches come from the clock; a token of the hub or git host fails beyond some minutes. */
const MOST_OFF_MS = 60_000;
const PATIENCE_MS = 10_000;

/** The clock: not behind what the factory wrote itself, and not far from the one of a host that it talks to. */
export const clock: Examiner = {
  name: 'clock',
  async look({ config, now }) {
    const last = (await listShifts(config.data)).at(-1);
    const record = last === undefined ? null : await readRecord(config.data, last);
    const written = Date.parse(record?.endedAt ?? record?.startedAt ?? '');
    const mend = 'Set the clock, and keep it with a time service (chrony, systemd-timesyncd).';
    if (written > now.getTime() + MOST_OFF_MS)
      return warning(`${now.toISOString()}, but shift ${last} was written at ${new Date(written).toISOString()}`, mend);
    const host = hostOf(config);
    const off = host === null ? null : await offFrom(host);
    if (host === null || off === null) return ok(`${now.toISOString()} (compared with no other)`);
    const told = `${now.toISOString()}, ${Math.round(Math.abs(off) / 1000)} s ${off < 0 ? 'behind' : 'ahead of'} ${new URL(host).host}`;
    return Math.abs(off) > MOST_OFF_MS ? warning(told, mend) : ok(told);
  },
};

/** A web host that the factory talks to anyway; null when all is on this machine. */
function hostOf(config: Config): string | null {
  if (/^https?:/i.test(config.origin)) return new URL(config.origin).origin;
  try {
    const { baseUrl } = resolveUpstream(config);
    return baseUrl.startsWith('https:') ? new URL(baseUrl).origin : null;
  } catch {
    return null;
  }
}

/** Milliseconds that this clock is ahead of a host's, to the second of its Date header; null when it does not tell. */
async function offFrom(host: string): Promise<number | null> {
  try {
    const before = Date.now();
    const response = await fetch(host, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const theirs = Date.parse(response.headers.get('date') ?? '');
    const middle = (before + Date.now()) / 2;
    return Number.isNaN(theirs) ? null : Math.abs(middle - theirs) < 2000 ? 0 : middle - theirs;
  } catch {
    return null;
  }
}
