import { randomBytes } from 'node:crypto';
import { simpleGit } from 'simple-git';
import { FactoryError } from '../support/errors.ts';
import { missing } from '../support/process.ts';
import { MARK, endCall, markOf } from './processes.ts';

/**
 * The one place where git is started, hardened: it obeys no configuration, hook, filter, attribute, monitor or helper but
 * what is written here. Why each is here, and which guards of simple-git had to be opened: docs/decisions/git.md.
 */

/** A git call that ended badly: what git said, and whether it was ended for its silence or by the operator. */
export class GitFailure extends Error {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ended: 'silent' | 'aborted' | null;

  constructor(told: Pick<GitFailure, 'exitCode' | 'stdout' | 'stderr' | 'ended'>, command: string) {
    super(`git ${command} failed: ${told.stderr.trim() || `exit ${told.exitCode ?? 'by a signal'}`}`);
    this.name = 'GitFailure';
    this.exitCode = told.exitCode;
    this.stdout = told.stdout;
    this.stderr = told.stderr;
    this.ended = told.ended;
  }
}

export interface GitSettings {
  gitDir: string;
  /** A call that prints nothing for this many milliseconds is ended. Progress, however slow, never is. */
  silenceMs: number;
  signal?: AbortSignal;
  /** Configuration that holds a secret: it reaches git in its environment, never in argv or a file. */
  secretConfig?: [key: string, value: string][];
}

export interface GitCall {
  input?: Buffer;
  /** Where git runs; default: the git dir itself, so that no checkout is ever discovered. */
  cwd?: string;
  /** Another git dir than the line's, or null to let git find the one of `cwd`. */
  gitDir?: string | null;
  workTree?: string;
}

/** Variables of ours that git may see: the way to programs, keys, proxies and certificates, and nothing else. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
];

/** Fixed variables: no system or global configuration or attributes, no prompt, plain English, known transports only. */
const FIXED = {
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'file:http:https:ssh',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
};

const CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.fsync=committed,loose-object,reference',
  'credential.helper=',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'push.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // An origin, or a checkout, may belong to another user than the factory's.
  'safe.directory=*',
];

/** Guards of simple-git that are opened, by name: each one only to switch something off, or to name our own git dir. */
const ALLOWED = {
  allowUnsafeConfigPaths: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeSshCommand: true,
  allowUnsafePack: true,
  allowUnsafeTemplateDir: true,
};

function environment(settings: GitSettings, call: GitCall): Record<string, string> {
  const env: Record<string, string> = { ...FIXED };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const gitDir = call.gitDir === undefined ? settings.gitDir : call.gitDir;
  if (gitDir !== null) env.GIT_DIR = gitDir;
  if (call.workTree !== undefined) env.GIT_WORK_TREE = call.workTree;
  const secret = settings.secretConfig ?? [];
  if (secret.length > 0) env.GIT_CONFIG_COUNT = String(secret.length);
  secret.forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return env;
}

/** Runs git commands for one line; every call is a process of its own. */
export class Git {
  readonly settings: GitSettings;

  constructor(settings: GitSettings) {
    this.settings = settings;
  }

  /**
   * Runs one git command and returns its standard output's bytes.
   * @throws GitFailure on a non-zero exit, on silence and on abort; FactoryError `process/missing` without git.
   */
  async run(args: string[], call: GitCall = {}): Promise<Buffer> {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let exitCode: number | null = null;
    const mark = randomBytes(6).toString('hex');
    const env = { ...environment(this.settings, call), [MARK]: markOf(mark, this.settings.gitDir) };
    const git = simpleGit({
      baseDir: call.cwd ?? this.settings.gitDir,
      config: CONFIG,
      unsafe: ALLOWED,
      allowEnvironment: Object.keys(env),
      timeout: { block: this.settings.silenceMs },
      // A program left behind by an origin's hook may hold the output open: two seconds after git itself ended are enough.
      completion: { onClose: true, onExit: 2000 },
      // Standard input is always ended, also when there is nothing to say.
      input: () => call.input ?? Buffer.alloc(0),
      ...(this.settings.signal === undefined ? {} : { abort: this.settings.signal }),
      errors: (error, result) => {
        exitCode = result.exitCode;
        return error ?? (result.exitCode === 0 ? undefined : Buffer.from(`git exited with ${result.exitCode}`));
      },
    })
      .env(env)
      .outputHandler((_command, out, err) => {
        out.on('data', (chunk: Buffer) => stdout.push(chunk));
        err.on('data', (chunk: Buffer) => stderr.push(chunk));
        // simple-git waits 50 ms longer for a call that has printed nothing; an empty chunk tells it that nothing will come.
        out.once('end', () => err.emit('data', Buffer.alloc(0)));
      });
    try {
      await git.raw(args);
      return Buffer.concat(stdout);
    } catch (error) {
      const plugin = (error as { plugin?: string }).plugin;
      const said = Buffer.concat(stderr).toString();
      if (said.includes('spawn git ENOENT') || String(error).includes('spawn git ENOENT')) throw missing('git');
      if (plugin !== undefined && plugin !== 'timeout' && plugin !== 'abort') throw error;
      const ended = plugin === 'timeout' ? 'silent' : plugin === 'abort' ? 'aborted' : null;
      if (ended !== null) await endCall(mark, this.settings.gitDir);
      const told = { exitCode, stdout: Buffer.concat(stdout).toString(), stderr: said, ended } as const;
      throw new GitFailure(told, args[0] ?? '');
    }
  }

  /** Runs one git command and returns its output as text, trimmed at the end. */
  async text(args: string[], call: GitCall = {}): Promise<string> {
    return (await this.run(args, call)).toString().trimEnd();
  }

  /** What a command prints, or null when git refuses it: for questions whose answer may be "there is none". */
  async ask(args: string[], call: GitCall = {}): Promise<Buffer | null> {
    try {
      return await this.run(args, call);
    } catch (error) {
      if (error instanceof GitFailure && error.ended === null) return null;
      throw error;
    }
  }
}

/** The error for a git command on the line's own git dir that should not have failed. */
export function brokenLine(failure: unknown, gitDir: string): unknown {
  if (!(failure instanceof GitFailure)) return failure;
  const told = { cause: failure, data: { said: failure.stderr.slice(-2000), exitCode: failure.exitCode } };
  if (failure.ended === 'aborted') {
    return new FactoryError('line/stopped', {
      message: 'git was ended because the factory was told to stop at once',
      mend: 'Nothing to mend: the work is in the checkout, and the next start snapshots it.',
      ...told,
    });
  }
  if (failure.ended === 'silent') {
    return new FactoryError('process/silent', {
      message: 'git said nothing for too long and was ended',
      mend: `See whether the disk under ${gitDir} answers, then run the shift again.`,
      ...told,
    });
  }
  if (/No space left on device|Disk quota exceeded/.test(failure.stderr)) {
    return new FactoryError('data/full', {
      message: 'the disk is full: git could not write',
      mend: 'Free some disk space; nothing that was written before is lost.',
      ...told,
    });
  }
  return new FactoryError('line/git', {
    message: failure.message,
    mend: `Run \`git --git-dir=${gitDir} fsck\`. If it is damaged, move it away: the next shift fetches everything anew.`,
    ...told,
  });
}
