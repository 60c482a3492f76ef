import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePlaces, parseCatalogue } from '../../catalogue/catalogue.ts';
import type { Entry } from '../../catalogue/entry.ts';
import type { Line, Stranded } from '../../line/line.ts';
import { nextPiece } from '../../rehearsal/repertoire.ts';
import { openSession } from '../../session/read.ts';
import { FactoryError } from '../../support/errors.ts';
import { earlierFindings } from '../findings.ts';
import { makeUp } from '../make-up.ts';
import { openLine } from '../open-line.ts';
import { saveLeftWork } from '../save-left.ts';
import { sessionFolderOf } from '../sessions.ts';
import type { Context, Facts, Station, StationResult } from '../station.ts';

/** Fetches main's tip now and lays out the checkout: afresh, or on top of it the oldest work that was left unfinished. */
export const open: Station = {
  name: 'open',
  skip: ({ facts }) => facts.idle ?? (facts.staff ? null : 'the shift is not staffed'),
  async run(context) {
    const line = await openLine(context);
    const base = await line.fetch();
    await line.refuseDirtyOrigin();

    await makeUp(context, line);
    await saveLeftWork(context, line);
    const opened = { line, base } satisfies Partial<Facts>;
    const { unfinished, quarantined } = await takeOldest(context, line);
    const result = await (unfinished ? continueWork(context, unfinished, opened) : startAfresh(context, opened));
    return quarantined.length === 0 ? result : { ...result, record: { ...result.record, quarantined } };
  },
};

/** Work of an earlier shift, and what is known of the session that made it. */
interface Unfinished {
  stranded: Stranded;
  /** The chain's folder; null when the session's log is lost. */
  sessions: string | null;
  /** Whether it settled and its row still waits, so that it can land as it is. */
  finished: boolean;
}

/** The oldest work to continue. Branches that are only left over are deleted, those continued too often go to quarantine. */
async function takeOldest(
  { config, store, log }: Context,
  line: Line,
): Promise<{ unfinished: Unfinished | null; quarantined: string[] }> {
  const quarantined: string[] = [];
  for (const stranded of await line.stranded()) {
    const { branch, state, continued, session } = stranded;
    if (state === 'leftover') {
      log.info({ branch }, 'its shift is on main already: deleted');
      await line.deleteBranch(branch);
    }
    if (state !== 'continuable') continue;
    const sessions = session === null ? null : await sessionFolderOf(config.data, session);
    const reason = sessions && (await openSession(join(sessions, `${session}.jsonl`))).result?.reason;
    // A row is final: work whose row is written already needs a session of its own to land.
    const finished = reason === 'settled' && session !== null && !(await store.made(session));
    if (finished || continued < config.continuations)
      return { unfinished: { stranded, sessions, finished }, quarantined };
    log.warn({ branch, continued }, 'continued too often: moved to quarantine');
    await line.quarantine(branch);
    quarantined.push(branch);
  }
  return { unfinished: null, quarantined };
}

async function startAfresh(
  { id, config, facts }: Context,
  opened: { line: Line; base: string },
): Promise<StationResult> {
  const { line, base } = opened;
  const idle = await noRoom(await shelf(line, base), config.catalogue, facts.staff?.upstream.provider === 'rehearsal');
  if (idle) return { summary: idle, facts: { ...opened, idle }, record: { base } };
  await line.newBranch(id, base);
  const sessions = join(config.data, 'sessions', `open-${id}`);
  await mkdir(sessions, { recursive: true, mode: 0o700 });
  const branch = `shift/${id}`;
  return {
    summary: `${branch} from ${base.slice(0, 10)}`,
    facts: { ...opened, branch, continued: 0, sessions, session: null },
    record: { base, branch },
  };
}

/** The shelf at a commit; a catalogue that cannot be read is no shelf, and check will say what is wrong with it. */
async function shelf(line: Line, base: string): Promise<Entry[] | null> {
  const text = await line.read(base, 'site/machines.json');
  try {
    return text === null ? null : parseCatalogue(text.toString('utf8'));
  } catch (error) {
    if (error instanceof FactoryError) return null;
    throw error;
  }
}

async function noRoom(
  entries: Entry[] | null,
  vocabulary: { domains: readonly string[]; eras: readonly string[] },
  rehearsing: boolean,
): Promise<string | null> {
  if (entries === null) return null;
  if (freePlaces(entries, vocabulary).length === 0) {
    return 'every place on the shelf is taken: widen catalogue.domains or catalogue.eras';
  }
  if (rehearsing && (await nextPiece(entries)) === null) {
    return 'every machine of the rehearsal is on the shelf: name a provider and a model to make new ones';
  }
  return null;
}

async function continueWork(
  { id, config }: Context,
  { stranded, sessions: found, finished }: Unfinished,
  opened: { line: Line; base: string },
): Promise<StationResult> {
  const { branch, session } = stranded;
  await opened.line.continueBranch(stranded, id, opened.base);
  // Only continuations in which an agent runs count towards quarantine.
  const continued = stranded.continued + (finished ? 0 : 1);
  const sessions = found ?? join(config.data, 'sessions', `open-${id}`);
  if (!found) await mkdir(sessions, { recursive: true, mode: 0o700 });
  const findings = finished ? undefined : await earlierFindings(config.data, stranded.shift);
  const how = finished
    ? 'finished, to be judged and landed'
    : found
      ? `resumes session ${session}`
      : 'its session log is lost';
  return {
    summary: `continues ${branch} (${continued} of ${config.continuations}): ${how}`,
    facts: {
      ...opened,
      branch,
      continued,
      sessions,
      session: found ? session : null,
      finishedBefore: finished,
      ...(findings === undefined ? {} : { findings: findings.told }),
    },
    record: { base: opened.base, branch, continued, ...(findings === undefined ? {} : { carried: findings.from }) },
  };
}
