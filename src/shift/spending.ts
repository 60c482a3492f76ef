import { listShifts, readRecord } from './record.ts';

/** Dollars that the shifts of a UTC day have cost so far, as their relays counted. */
export async function spentToday(data: string, now: Date): Promise<number> {
  const day = now.toISOString().slice(0, 10).replaceAll('-', '');
  const ids = (await listShifts(data)).filter((id) => id.startsWith(day));
  const records = await Promise.all(ids.map((id) => readRecord(data, id)));
  return records.reduce((sum, record) => sum + (record?.usage.dollars ?? 0), 0);
}
