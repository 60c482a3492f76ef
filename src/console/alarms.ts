import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import { writeFileDurable } from '../support/files.ts';

/** The windows of the alarm panel, in their fixed places. */
export const ALARMS = [
  { name: 'shift-red', legend: 'Shift red', mend: 'Open the shift: its finding and its mend stand first.' },
  {
    name: 'shift-interrupted',
    legend: 'Shift cut off',
    mend: 'Nothing to do when it happens once: the next shift continues the work.',
  },
  {
    name: 'branch-set-aside',
    legend: 'Branch set aside',
    mend: 'Read why it did not land, then release it or drop it.',
  },
  {
    name: 'row-held',
    legend: 'Row held',
    mend: 'Look at what was found: machinery ship --redact <id> takes it out and ships the row.',
  },
  {
    name: 'outbox-waits',
    legend: 'Outbox waits',
    mend: 'Retry the outbox; the doctor says whether the hub and the token are good.',
  },
  {
    name: 'disk-low',
    legend: 'Disk low',
    mend: 'Free space on the data folder’s disk; below the floor no shift starts.',
  },
  { name: 'schedule-paused', legend: 'Schedule paused', mend: 'Resume the schedule when you are done.' },
  {
    name: 'shelf-full',
    legend: 'Shelf nearly full',
    mend: 'Widen catalogue.domains or catalogue.eras in factory.yaml.',
  },
] as const;

export type AlarmName = (typeof ALARMS)[number]['name'];

/** What makes an alarm true now. */
export interface Cause {
  /** What tells one cause from the next: a shift's id, a branch, a row. */
  key: string;
  told: string;
  /** Where in the console to look. */
  link: string;
}

/** `new` flashes; `acknowledged` is steady while its cause lasts; `gone` is lit but its cause went by itself; `dark` is well. */
export type AlarmState = 'dark' | 'new' | 'acknowledged' | 'gone';

export interface Alarm {
  name: AlarmName;
  legend: string;
  mend: string;
  state: AlarmState;
  causes: Cause[];
  since: string | null;
  acknowledged: { at: string; by: string } | null;
}

/** What is kept of an alarm that is not dark. */
interface Kept {
  keys: string[];
  last: Cause[];
  since: string;
  acknowledged: { at: string; by: string } | null;
}

export type Causes = Partial<Record<AlarmName, Cause[]>>;

/** `alarms.json` in the data folder: alarms stay lit over a restart until somebody acknowledges them. */
export class AlarmBook {
  readonly #path: string;
  #kept: Promise<Map<AlarmName, Kept>> | null = null;

  constructor(data: string) {
    this.#path = join(data, 'alarms.json');
  }

  async #read(): Promise<Map<AlarmName, Kept>> {
    const text = await readFile(this.#path, 'utf8').catch(() => '{}');
    try {
      const entries = Object.entries(JSON.parse(text) as Record<string, Kept>);
      const known = entries.filter(
        ([name, kept]) => ALARMS.some((alarm) => alarm.name === name) && Array.isArray(kept.keys),
      );
      return new Map(known as [AlarmName, Kept][]);
    } catch {
      return new Map();
    }
  }

  /** Judges every alarm by what is true now. A cause that was not there at the last look raises its alarm anew. */
  async look(causes: Causes, now = new Date()): Promise<Alarm[]> {
    this.#kept ??= this.#read();
    const kept = await this.#kept;
    const before = JSON.stringify([...kept]);
    for (const { name } of ALARMS) {
      const here = causes[name] ?? [];
      const old = kept.get(name);
      const keys = here.map(({ key }) => key);
      if (here.length === 0) {
        if (old?.acknowledged) kept.delete(name);
        else if (old) kept.set(name, { ...old, keys: [] });
      } else if (!old || keys.some((key) => !old.keys.includes(key) && !old.last.some((cause) => cause.key === key))) {
        kept.set(name, { keys, last: here, since: now.toISOString(), acknowledged: null });
      } else kept.set(name, { ...old, keys, last: here });
    }
    if (JSON.stringify([...kept]) !== before) await this.#write(kept);
    return ALARMS.map((alarm) => this.#told(alarm, kept.get(alarm.name)));
  }

  #told({ name, legend, mend }: (typeof ALARMS)[number], kept: Kept | undefined): Alarm {
    const state = !kept ? 'dark' : kept.keys.length === 0 ? 'gone' : kept.acknowledged ? 'acknowledged' : 'new';
    return {
      ...{ name, legend, mend, state },
      causes: kept?.last ?? [],
      since: kept?.since ?? null,
      acknowledged: kept?.acknowledged ?? null,
    };
  }

  /** Acknowledges an alarm. @returns false when it was not lit, or was acknowledged before. */
  async acknowledge(name: AlarmName, by: string, now = new Date()): Promise<boolean> {
    this.#kept ??= this.#read();
    const kept = await this.#kept;
    const alarm = kept.get(name);
    if (!alarm || alarm.acknowledged) return false;
    if (alarm.keys.length === 0) kept.delete(name);
    else kept.set(name, { ...alarm, acknowledged: { at: now.toISOString(), by } });
    await this.#write(kept);
    return true;
  }

  async #write(kept: Map<AlarmName, Kept>): Promise<void> {
    // A full disk must not take the pages down: what is lit is still known here.
    await writeFileDurable(this.#path, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`).catch(
      (error: unknown) => {
        if (error instanceof FactoryError) throw error;
      },
    );
  }
}
