import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { processTable } from '../../support/proc.ts';
import { signalGroup } from '../../support/process.ts';
import { PACKAGE_ROOT } from '../../support/self.ts';
import type { HarnessRun } from '../types.ts';
import { type Confinement, writable } from './confinement.ts';
import { reopen, sweepMarked } from './none.ts';

/** What a program needs of the system. Everything else (homes, /run, /var, /srv, mounted disks) is simply not there. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/var/cache/fontconfig',
  '/nix',
];

/**
 * What of /proc reaches the kernel itself. The agent may be root, and root needs no capability to write these: a line in
 * `sys/kernel/core_pattern` would run outside of any confinement.
 */
const KERNEL = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs', '/proc/acpi', '/proc/scsi'];

/** The most that the private /tmp may hold, and /dev/shm, each in bytes: they are memory. */
const TMP_SIZE = 1024 * 1024 * 1024;

const within = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** Files and folders below one that not everybody may read: keys, password hashes. The agent may be root, so it is hidden. */
function privateEntries(folder: string): { path: string; folder: boolean }[] {
  const names = (() => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  })();
  return names.flatMap((name) => {
    const path = join(folder, name);
    const at = lstatSync(path, { throwIfNoEntry: false });
    if (!at || at.isSymbolicLink()) return [];
    const open = at.isDirectory() ? (at.mode & 0o5) === 0o5 : (at.mode & 0o4) !== 0;
    if (!open) return at.isDirectory() || at.isFile() ? [{ path, folder: at.isDirectory() }] : [];
    return at.isDirectory() ? privateEntries(path) : [];
  });
}

/**
 * The package as the agent sees it: what stands openly in its folder. Dot files (`.git` with its remotes, `.env`,
 * the data folder of a checkout) stay out.
 */
function packageParts(): string[] {
  return readdirSync(PACKAGE_ROOT)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(PACKAGE_ROOT, name));
}

/** What is bound so that one program runs: nothing when the system has it, else its folder, or only itself in a home. */
function programParts(file: string | undefined): string[] {
  if (!file || !isAbsolute(file) || !existsSync(file)) return [];
  const real = realpathSync(file);
  const folder = dirname(real);
  const alone = [homedir(), '/', PACKAGE_ROOT].includes(folder) || real === process.execPath || folder === '/tmp';
  return [...new Set([alone ? real : folder, file])].filter(
    (path) => !SYSTEM.some((system) => within(path, system)) && !within(path, PACKAGE_ROOT),
  );
}

/**
 * bubblewrap's arguments, up to and including `--`: the system read-only, the package and the harness read-only, the
 * run's own folders writable, a private /tmp; own process, IPC and host-name spaces; no capability; gone with its
 * parent. The network is shared, because the relay is on loopback. Chromium is bound from where CHROMIUM_PATH says.
 */
export function bwrapArguments(run: HarnessRun, program: string): string[] {
  const readOnly = (path: string) => ['--ro-bind', path, path];
  const system = SYSTEM.filter((path) => existsSync(path));
  const parts = [process.execPath, program, process.env.CHROMIUM_PATH].flatMap(programParts);
  const hidden = privateEntries('/etc').flatMap((entry) =>
    entry.folder ? ['--tmpfs', entry.path, '--remount-ro', entry.path] : ['--ro-bind', '/dev/null', entry.path],
  );
  const roomy = (path: string) => ['--size', String(TMP_SIZE), '--tmpfs', path];
  return [
    ...system.flatMap(readOnly),
    ...hidden,
    // /dev is memory too, half of all there is: shut, but for shared memory of a size.
    ...['--dev', '/dev', ...roomy('/dev/shm'), '--remount-ro', '/dev', '--proc', '/proc'],
    ...KERNEL.filter((path) => existsSync(path)).flatMap(readOnly),
    ...roomy('/tmp'),
    ...packageParts().flatMap(readOnly),
    ...[...new Set(parts)].flatMap(readOnly),
    // Where the data folder lies below something bound above, this hides it; what the run may see of it comes after.
    ...['--tmpfs', run.data],
    ...writable(run).flatMap((path) => ['--bind', path, path]),
    ...readOnly(run.order),
    ...['--remount-ro', '/', '--remount-ro', run.data],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--hostname', 'machinery'],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--chdir', run.checkout, '--'],
  ];
}

/** Debian's bubblewrap: the agent sees the system, its own folders and its own processes. */
export const bwrap: Confinement = {
  kind: 'bwrap',
  prepare: async () => {},
  wrap: async (command, run) => ({
    file: 'bwrap',
    args: [...bwrapArguments(run, command.file), command.file, ...command.args],
  }),
  // bwrap itself would die of SIGTERM and take the sandbox with it at once. Its child leads the sandbox's own group:
  // as process 1 in there it is deaf to SIGTERM, and the harness beside it hears it.
  ask: (pid) => {
    for (const child of processTable()) if (child.parent === pid) signalGroup(child.group, 'SIGTERM');
  },
  sweep: sweepMarked,
  reclaim: async () => {},
  release: (run) => reopen(writable(run)),
};
