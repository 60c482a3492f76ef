import type { Config } from '../config/load.ts';
import type { Caps } from '../harness/relay/ledger.ts';
import { type ShiftRecord, listShifts, readRecord } from './record.ts';

/** Dollars that the shifts of a UTC day have cost so far, as their relays counted. */
export async function spentToday(data: string, now: Date): Promise<number> {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '');
  const ids = (await listShifts(data)).filter((id) => id.startsWith(day));
  const records = await Promise.all(ids.map((id) => readRecord(data, id)));
  return records.reduce((sum, record) => sum + (record?.usage.dollars ?? 0), 0);
}

/** What is left of a shift's own caps after its attempts so far; nothing where it has none. */
export function capsLeft({ tokens, cost }: Pick<Config, 'tokens' | 'cost'>, used: ShiftRecord['usage']): Caps {
  return {
    ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens - used.inputTokens - used.outputTokens) }),
    ...(cost === undefined ? {} : { dollars: Math.max(0, cost - (used.dollars ?? 0)) }),
  };
}
