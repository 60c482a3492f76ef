import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/load.ts';
import { SECRET_VARIABLES } from '../config/secrets.ts';
import { check } from '../gates/check/check.ts';
import type { GateReport } from '../gates/finding.ts';
import { FactoryError } from '../support/errors.ts';
import { run } from '../support/process.ts';
import type { Context } from './station.ts';

/** How long a publishing command may take. */
const COMMAND_MS = 10 * 60_000;
/** What it printed last is kept in the shift's log. */
const TOLD = 2000;

export interface PublishOptions {
  site: string;
  out: string;
  vocabulary?: Config['catalogue'];
}

/** A copy beside the target that is so old, in milliseconds, and is not the one in service was left by a process that died. */
const LEFT_OVER_MS = 60 * 60_000;

/**
 * Copies a site to a folder, when check finds no error in the copy. `out` becomes a link to a copy beside it, and the link
 * is replaced by a rename: a visitor gets the old site or the new one, never half of each. The copy before is removed.
 * @returns check's report; when it is not ok nothing was published.
 * @throws FactoryError `publish/not-ours` when `out` is there and is no earlier copy; `gate/no-site`.
 */
export async function publishSite({ site, out, vocabulary }: PublishOptions): Promise<GateReport> {
  const target = resolve(out);
  const folder = dirname(target);
  const before = await earlierCopy(target);
  const judging = vocabulary ? { vocabulary } : {};
  // What is no site is told by its own name.
  if (!existsSync(site)) return check({ site, ...judging });
  const name = `.${basename(target)}.${randomBytes(6).toString('hex')}`;
  const [copy, link] = [join(folder, name), join(folder, `${name}.link`)];
  await mkdir(folder, { recursive: true });
  await removeLeftOver(target, before);
  try {
    // Links stay out: what is published must not lead anywhere else on this machine.
    await cp(site, copy, { recursive: true, filter: async (path) => !(await lstat(path)).isSymbolicLink() });
    // The copy is judged and not the site, which a shift may land on meanwhile.
    const report = await check({ site: copy, ...judging });
    if (!report.ok) {
      await rm(copy, { recursive: true });
      return report;
    }
    await symlink(name, link);
    // A link cannot be put over a folder; only an empty one gets so far.
    if (before === null) await rmdir(target).catch(() => {});
    await rename(link, target);
    if (before !== null) await rm(join(folder, before), { recursive: true, force: true });
    return report;
  } catch (error) {
    await rm(link, { force: true });
    await rm(copy, { recursive: true, force: true });
    throw error;
  }
}

/** The name of the copy that `out` links to now; null when there is none, or an empty folder that can be made way for. */
async function earlierCopy(target: string): Promise<string | null> {
  const there = await lstat(target).catch(() => null);
  if (there === null) return null;
  const leads = there.isSymbolicLink() ? await readlink(target) : null;
  if (leads?.startsWith(`.${basename(target)}.`) && !leads.includes('/')) return leads;
  if (there.isDirectory() && (await readdir(target)).length === 0) return null;
  throw new FactoryError('publish/not-ours', {
    message: `${target} is there and was not made by \`machinery publish\``,
    mend: 'Name a folder that does not exist yet, or move that one away.',
    data: { out: target },
  });
}

/** Removes what a publication that was killed left beside the target: a copy that no link leads to, or a link never put in place. */
async function removeLeftOver(target: string, inService: string | null): Promise<void> {
  const folder = dirname(target);
  const stem = `.${basename(target)}.`;
  for (const name of await readdir(folder)) {
    if (!name.startsWith(stem) || !/^[0-9a-f]{12}(\.link)?$/.test(name.slice(stem.length)) || name === inService)
      continue;
    const there = await lstat(join(folder, name)).catch(() => null);
    if (there && Date.now() - there.mtimeMs > LEFT_OVER_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Runs `publish.command` in a checked copy of the landed `site/`. The shift has landed whatever comes of it.
 * @returns a few words for the report; null when nothing landed or no command is set.
 */
export async function publishLanding({ config, facts, id, log, signal }: Context): Promise<string | null> {
  const { command } = config.publish;
  if (command === undefined || !facts.commit || !facts.line) return null;
  const folder = join(config.data, 'trees', id, 'publish');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await facts.line.exportTree(facts.commit, folder);
  const site = join(folder, 'site');
  const report = await check({ site, vocabulary: config.catalogue });
  if (!report.ok) return 'not published: check found errors';
  const ended = await run('sh', ['-c', command], { cwd: site, env: openEnvironment(), timeoutMs: COMMAND_MS, signal });
  const told = {
    output: `${ended.stdout}${ended.stderr}`.slice(-TOLD),
    exitCode: ended.exitCode,
    signal: ended.signal,
  };
  if (ended.exitCode === 0) {
    log.info(told, 'published');
    return 'published';
  }
  log.error(told, 'the publishing command failed');
  return `not published: the command ended with ${ended.exitCode ?? ended.signal}`;
}

/** The environment without the factory's own secrets: the command's are its operator's. */
function openEnvironment(): Record<string, string> {
  const secret = (name: string) => name.replace(/_FILE$/, '') in SECRET_VARIABLES;
  return Object.fromEntries(
    Object.entries(process.env).filter((each): each is [string, string] => each[1] !== undefined && !secret(each[0])),
  );
}
