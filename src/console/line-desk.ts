import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/load.ts';
import { isLocalOrigin } from '../config/load.ts';
import type { Change, OfShift } from '../line/change.ts';
import { Line } from '../line/line.ts';
import type { SetAside } from '../line/set-aside.ts';
import { factoryId } from '../shift/factory-id.ts';
import { lineOptions } from '../shift/open-line.ts';
import type { LineDesk } from './room.ts';
import { fileBelow, plainPath } from './site.ts';

/** How long a list of branches is taken as still true; each is a git call. */
const FRESH_MS = 5000;

/** Files of a change that a page lists; a machine has four and its entry. */
const MOST_FILES = 200;
/** Changes that are remembered. */
const MOST_CHANGES = 50;

/** What the console sees of the git side. The site is the origin's own folder where there is one, else main as last fetched. */
export function openLineDesk(config: Config): LineDesk {
  const site = localSite(config.origin);
  let line: Promise<Line> | null = null;
  const changes = new Map<string, { at: number; change: Promise<Change | null> }>();
  let known: { at: number; branches: Promise<SetAside[]> } | null = null;

  /** null until a shift has made the line's git dir. */
  async function opened(): Promise<Line | null> {
    if (line === null && !existsSync(join(config.data, 'line.git'))) return null;
    // A shift may be at work on the same git dir: nothing of it is made, swept or mended from here.
    line ??= factoryId(config.data).then((factory) => Line.beside(lineOptions({ config, factory })));
    return line.catch((error: unknown) => {
      line = null;
      throw error;
    });
  }

  async function change(work: (line: Line) => Promise<void>): Promise<void> {
    const open = await opened();
    if (!open) return;
    await work(open).finally(() => {
      known = null;
      changes.clear();
    });
  }

  /** What landed stays as it is; what waits on a branch may change while it is looked at. Each is several git calls. */
  function changeOf(shift: OfShift): Promise<Change | null> {
    const key = `${shift.id} ${shift.commit ?? ''}`;
    const kept = changes.get(key);
    if (kept && (shift.commit !== null || Date.now() - kept.at < FRESH_MS)) return kept.change;
    const change = opened().then((open) => open?.changeOf(shift, MOST_FILES) ?? null);
    changes.delete(key);
    changes.set(key, { at: Date.now(), change });
    const [oldest] = changes.keys();
    if (changes.size > MOST_CHANGES && oldest !== undefined) changes.delete(oldest);
    change.catch(() => changes.delete(key));
    return change;
  }

  return {
    setAside() {
      if (known === null || Date.now() - known.at > FRESH_MS) {
        known = { at: Date.now(), branches: opened().then((open) => open?.setAside() ?? []) };
      }
      return known.branches;
    },
    release: (branch) => change((open) => open.release(branch)),
    drop: (branch) => change((open) => open.deleteBranch(branch)),
    change: changeOf,
    object: async (id) => (await opened())?.object(id) ?? null,
    difference: async (before, now) => (await opened())?.difference(before, now) ?? null,
    async siteFile(path) {
      if (site) return fileBelow(site, path);
      const plain = plainPath(path);
      const open = plain === null ? null : await opened();
      return open ? open.read(`refs/remotes/origin/${config.branch}`, `site/${plain}`).catch(() => null) : null;
    },
  };
}

/** The checked-out site of a local origin; null for a bare or a remote one. */
function localSite(origin: string): string | null {
  if (!isLocalOrigin(origin)) return null;
  const folder = join(/^file:/i.test(origin) ? fileURLToPath(origin) : origin, 'site');
  return existsSync(folder) ? folder : null;
}
