import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/load.ts';
import { isLocalOrigin } from '../config/load.ts';
import type { LineDesk } from './room.ts';
import { fileBelow } from './site.ts';

/** What the console sees of the git side. The site is the origin's own folder where there is one, else main as last fetched. */
export async function openLineDesk(config: Config): Promise<LineDesk> {
  const site = localSite(config.origin);
  return {
    setAside: async () => [],
    release: async () => {},
    drop: async () => {},
    siteFile: (path) => (site ? fileBelow(site, path) : Promise.resolve(null)),
  };
}

/** The checked-out site of a local origin; null for a bare or a remote one. */
function localSite(origin: string): string | null {
  if (!isLocalOrigin(origin)) return null;
  const folder = join(/^file:/i.test(origin) ? fileURLToPath(origin) : origin, 'site');
  return existsSync(folder) ? folder : null;
}
