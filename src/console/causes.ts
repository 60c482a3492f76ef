import { statfs } from 'node:fs/promises';
import { freePlaces, parseCatalogue } from '../catalogue/catalogue.ts';
import { Outbox } from '../dataset/outbox.ts';
import { Quarantine } from '../dataset/quarantine.ts';
import type { Alarm, Cause, Causes } from './alarms.ts';
import type { Room } from './room.ts';
import type { ShiftSummary } from './shift-book.ts';

/** How long the slower answers (disk, git, catalogue) are taken as still true. */
const FRESH_MS = 10_000;
/** A share of the shelf above which it is time to widen it (docs/formats.md, section 6). */
const NEARLY_FULL = 0.9;

/** Looks at everything that can raise an alarm and tells the alarm panel. */
export async function lookAtAlarms(room: Room, shifts: readonly ShiftSummary[]): Promise<Alarm[]> {
  return room.alarms.look({ ...ofShifts(shifts), ...ofSchedule(room), ...(await slower(room)) });
}

const place = (shift: ShiftSummary): Cause => ({
  key: shift.id,
  told: `shift ${shift.id}: ${shift.reason}`,
  link: `/shifts/${shift.id}`,
});

/** The last shift that was not idle decides: a green one after a red one means that the cause is gone. */
function ofShifts(shifts: readonly ShiftSummary[]): Causes {
  const last = shifts.find(({ verdict }) => verdict !== null && verdict !== 'idle');
  // A shift that somebody stopped is no alarm: they know.
  const died = last?.verdict === 'interrupted' && !/was stopped/.test(last.reason);
  return {
    'shift-red': last?.verdict === 'red' ? [place(last)] : [],
    'shift-interrupted': last && died ? [place(last)] : [],
  };
}

function ofSchedule({ factory }: Room): Causes {
  const { paused } = factory.status();
  if (!paused) return {};
  return { 'schedule-paused': [{ key: paused.since, told: `paused by ${paused.by}`, link: '/' }] };
}

const remembered = new WeakMap<Room, { at: number; causes: Promise<Causes> }>();

function slower(room: Room): Promise<Causes> {
  const known = remembered.get(room);
  if (known && Date.now() - known.at < FRESH_MS) return known.causes;
  const causes = lookSlowly(room);
  remembered.set(room, { at: Date.now(), causes });
  return causes;
}

/** Forgets what was remembered, after an act that changed it. */
export function lookAgain(room: Room): void {
  remembered.delete(room);
}

async function lookSlowly(room: Room): Promise<Causes> {
  const [aside, held, waiting, disk, shelf] = await Promise.all([
    room.line.setAside().catch(() => []),
    new Quarantine(room.config.data).list(),
    waitingRows(room),
    lowDisk(room),
    fullShelf(room),
  ]);
  return {
    'branch-set-aside': aside.map(({ branch }) => ({ key: branch, told: branch, link: '/#aside' })),
    'row-held': held.map(({ id, hits: [first] }) => ({
      key: id,
      told: `row ${id}: ${first ? `${first.rule} in ${first.place}` : 'a secret'}`,
      link: '/rows',
    })),
    'outbox-waits': waiting,
    'disk-low': disk,
    'shelf-full': shelf,
  };
}

async function waitingRows({ config, factory }: Room): Promise<Cause[]> {
  // Without a hub rows stay here for good; while a shift runs it will ship them itself.
  if (config.dataset.hub.repo === undefined || factory.status().current) return [];
  const waiting = (await new Outbox(config.data).ids()).length;
  return waiting === 0
    ? []
    : [{ key: 'rows', told: `${waiting} ${waiting === 1 ? 'row waits' : 'rows wait'}`, link: '/rows' }];
}

/** Bytes free for the factory's user on the data folder's disk; null where it cannot be told. */
export async function freeBytes(data: string): Promise<number | null> {
  const disk = await statfs(data).catch(() => null);
  return disk ? disk.bavail * disk.bsize : null;
}

async function lowDisk({ config }: Room): Promise<Cause[]> {
  const free = await freeBytes(config.data);
  if (free === null || free >= config.disk_floor) return [];
  return [
    {
      key: 'disk',
      told: `${Math.round(free / 1e6)} MB free of a floor of ${Math.round(config.disk_floor / 1e6)} MB`,
      link: '/doctor',
    },
  ];
}

async function fullShelf({ config, line }: Room): Promise<Cause[]> {
  const text = await line.siteFile('machines.json').catch(() => null);
  if (!text) return [];
  try {
    const all = config.catalogue.domains.length * config.catalogue.eras.length;
    const free = freePlaces(parseCatalogue(text.toString('utf8')), config.catalogue).length;
    if (free > all * (1 - NEARLY_FULL)) return [];
    return [{ key: free === 0 ? 'full' : 'nearly', told: `${free} of ${all} places are free`, link: '/shelf/' }];
  } catch {
    return [];
  }
}
