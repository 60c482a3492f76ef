import { CATALOGUE, MACHINES } from '../../line/catalogue.ts';
import type { Tree, TreeEntry } from '../../line/line.ts';
import { shown } from '../../line/tree.ts';
import type { Finding, Severity } from '../finding.ts';

/** What the work did to files: main's own must stay, and all that lands is one new folder of regular files. */

const SITE = 'site/';
/** So many findings of one kind are told one by one; a model that broke a thousand files needs no thousand lines. */
const TOLD = 25;

export function machineFolder(path: string): string | null {
  const rest = path.startsWith(`${MACHINES}/`) ? path.slice(MACHINES.length + 1) : '';
  const slash = rest.indexOf('/');
  return slash > 0 ? rest.slice(0, slash) : null;
}

function finding(rule: string, severity: Severity, path: string, message: string): Finding {
  const file = shown(path);
  const relative = file.startsWith(SITE) ? { file: file.slice(SITE.length) } : {};
  return { rule, severity, machine: shown(machineFolder(path) ?? ''), message, ...relative };
}

function kind(entry: TreeEntry): string {
  if (entry.mode === '120000') return 'a symbolic link';
  if (entry.mode === '160000') return 'a submodule';
  return entry.mode === '100755' ? 'an executable file' : 'a regular file';
}

/** What happened to a file that main has, in words; null when nothing did. */
function changeOf(path: string, before: TreeEntry, work: Tree, fresh: Map<string, string>): string | null {
  const after = work.get(path);
  const name = shown(path);
  if (after === undefined) {
    const moved = fresh.get(before.id);
    return moved === undefined
      ? `${name} was removed: put it back`
      : `${name} was moved to ${shown(moved)}: move it back`;
  }
  if (after.mode !== before.mode) {
    if (after.mode.startsWith('100') && before.mode.startsWith('100')) {
      return `${name} was made ${after.mode === '100755' ? 'executable' : 'not executable'}: set its mode back`;
    }
    return `${name} was replaced by ${kind(after)}: put it back as it was`;
  }
  return after.id === before.id ? null : `${name} was changed: put it back as it is on main`;
}

/** Every file of main that was touched; those of machines that may be repaired are notes. */
export function changedFiles(base: Tree, work: Tree, repairable: (slug: string) => boolean): Finding[] {
  const fresh = new Map<string, string>();
  for (const [path, entry] of work) if (!base.has(path)) fresh.set(entry.id, path);
  const findings: Finding[] = [];
  for (const [path, before] of base) {
    if (path === CATALOGUE) continue;
    const message = changeOf(path, before, work, fresh);
    if (message === null) continue;
    const slug = machineFolder(path);
    if (slug !== null && repairable(slug)) {
      findings.push(
        finding(
          'scope/outside',
          'note',
          path,
          `${message.replace(/: .*$/, '')} (allowed: check finds errors in this machine on main)`,
        ),
      );
    } else findings.push(finding('scope/outside', 'error', path, message));
  }
  const mode = work.get(CATALOGUE)?.mode;
  if (mode !== undefined && mode !== (base.get(CATALOGUE)?.mode ?? '100644')) {
    const link = mode === '120000' || mode === '160000';
    findings.push(
      link
        ? finding(
            'scope/link',
            'error',
            CATALOGUE,
            `${CATALOGUE} is ${kind({ mode, id: '', size: 0 })}: it must be a regular file`,
          )
        : finding(
            'scope/outside',
            'error',
            CATALOGUE,
            `${CATALOGUE} was made ${mode === '100755' ? 'executable' : 'not executable'}: set its mode back`,
          ),
    );
  }
  return findings;
}

/** New files that no landing takes along, told as warnings: everything that is not in a new machine folder. */
export function strayFiles(
  base: Tree,
  work: Tree,
  newFolders: Set<string>,
  repairable: (slug: string) => boolean,
): Finding[] {
  const findings: Finding[] = [];
  for (const path of work.keys()) {
    const slug = machineFolder(path);
    if (path === CATALOGUE || base.has(path) || (slug !== null && (newFolders.has(slug) || repairable(slug)))) continue;
    findings.push(
      finding(
        'scope/outside',
        'warning',
        path,
        `${shown(path)} is new and outside the new machine's folder: it is left out of the landing`,
      ),
    );
  }
  return bounded(findings);
}

/** Links, submodules and nested repositories in the folders that would land. */
export function unlandable(work: Tree, folders: Set<string>, leftOut: string[]): Finding[] {
  const findings: Finding[] = [];
  const bare = new Map<string, Set<string>>();
  for (const [path, entry] of work) {
    const slug = machineFolder(path);
    if (slug === null || !folders.has(slug)) continue;
    if (entry.mode === '120000' || entry.mode === '160000') {
      findings.push(
        finding(
          'scope/link',
          'error',
          path,
          `${shown(path)} is ${kind(entry)}: only regular files land. Write the content itself into the file, or remove it`,
        ),
      );
    }
    const part = /^(.*?)\/(HEAD|objects|refs)(\/|$)/.exec(path);
    if (part) bare.set(part[1] ?? '', (bare.get(part[1] ?? '') ?? new Set()).add(part[2] ?? ''));
  }
  for (const [path, parts] of bare) {
    if (parts.size === 3)
      findings.push(finding('scope/link', 'error', `${path}/HEAD`, `${shown(path)} is a nested repository: remove it`));
  }
  for (const each of leftOut) {
    const [, path = '', slug = '', why = ''] = /^(site\/machines\/([^/]+)\/.*) \(([^()]*)\)$/.exec(each) ?? [];
    if (folders.has(slug))
      findings.push(finding('scope/link', 'error', Buffer.from(path).toString('latin1'), leftOutWords(path, why)));
  }
  return bounded(findings);
}

/** Why a path that the snapshot had to leave out cannot land, as the agent is told. */
function leftOutWords(path: string, why: string): string {
  if (why === 'a nested repository') return `${path} makes its folder a nested repository: remove it`;
  return `${path} ${why.startsWith('cannot') ? why : `is ${why}`}: only regular files land. Remove it`;
}

/** The first findings, and one that says how many more there are. */
export function bounded(findings: Finding[]): Finding[] {
  const last = findings[TOLD];
  if (last === undefined) return findings;
  return [
    ...findings.slice(0, TOLD),
    { ...last, message: `${last.message} (and ${findings.length - TOLD - 1} more like it)` },
  ];
}
