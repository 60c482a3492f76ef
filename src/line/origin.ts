import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FactoryError } from '../support/errors.ts';
import { GitFailure, brokenLine } from './git.ts';

/** Where the line fetches from and pushes to: a repository on this machine, or an address. Never holds a credential. */
export interface Origin {
  /** What git is given, and what a person is shown. */
  address: string;
  /** The repository's folder, when it is on this machine. */
  path: string | null;
  /** Configuration that carries the credential, for git's environment. */
  secretConfig: [key: string, value: string][];
  /** Every form of the credential that git could repeat: struck out of errors. */
  struck: string[];
}

/** `user:password` as it is, `Bearer …` and `Basic …` as they are; any other token is the password of a user of that name. */
function authorization(token: string): string {
  if (/^(Bearer|Basic) /i.test(token)) return token;
  const pair = token.includes(':') ? token : `x-access-token:${token}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/**
 * Reads an origin as configured: a path, `file://`, `https://`, `ssh://` or `user@host:path`. A credential written into
 * a web address is taken out of it; `token` (a token, `user:password`, or a whole `Bearer …`) is used where there is none.
 */
export function readOrigin(configured: string, token?: string): Origin {
  if (/^file:\/\//i.test(configured)) return local(fileURLToPath(configured));
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(configured)) {
    const elsewhere = /^[^/]+:/.test(configured) && !existsSync(configured);
    return elsewhere ? { address: configured, path: null, secretConfig: [], struck: [] } : local(resolve(configured));
  }
  const url = new URL(configured);
  const web = url.protocol === 'https:' || url.protocol === 'http:';
  const written =
    url.password === '' ? null : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const credential = written ?? token;
  if (web) url.username = '';
  url.password = '';
  if (!web || credential === undefined || credential === '') {
    return { address: url.href, path: null, secretConfig: [], struck: written === null ? [] : [written] };
  }
  const header = authorization(credential);
  return {
    address: url.href,
    path: null,
    // Bound to this host: git sends it nowhere else.
    secretConfig: [[`http.${url.origin}/.extraHeader`, `Authorization: ${header}`]],
    struck: [credential, header, header.replace(/^\S+ /, '')],
  };
}

function local(path: string): Origin {
  return { address: path, path, secretConfig: [], struck: [] };
}

/** Options that make the other end of a local origin work whoever owns it, and let its checked-out main follow a push. */
export function packOption(origin: Origin, command: 'upload-pack' | 'receive-pack'): string[] {
  if (origin.path === null) return [];
  const follow = command === 'receive-pack' ? ' -c receive.denyCurrentBranch=updateInstead' : '';
  return [`--${command}=git -c safe.directory=*${follow} ${command}`];
}

/** Strikes the credential out of a text of git's. */
export function struckOut(text: string, origin: Origin): string {
  return origin.struck.reduce((told, secret) => told.replaceAll(secret, '[credential]'), text);
}

const SAYS_AUTH =
  /Authentication failed|could not read (Username|Password)|terminal prompts disabled|returned error: 40[13]|Permission denied \(|Access denied|Permission to .* denied|invalid credentials/i;
const SAYS_NO_BRANCH = /couldn't find remote ref/i;

/** Turns a failed git call that spoke with the origin into the typed error for it. */
export function originError(failure: unknown, origin: Origin, branch: string, gitDir: string): unknown {
  if (!(failure instanceof GitFailure)) return failure;
  const said = struckOut(failure.stderr, origin).slice(-2000);
  const told = { data: { origin: origin.address, said } };
  if (failure.ended === 'silent') {
    return new FactoryError('origin/unreachable', {
      message: `the origin ${origin.address} said nothing for too long`,
      mend: 'See whether the network and the host answer. The work is kept and goes with a later shift.',
      data: { ...told.data, silent: true },
    });
  }
  if (failure.ended === 'aborted' || /No space left on device/.test(failure.stderr)) return brokenLine(failure, gitDir);
  if (SAYS_NO_BRANCH.test(said)) return noBranch(origin, branch);
  if (SAYS_AUTH.test(said)) {
    return new FactoryError('origin/auth', {
      message: `the origin ${origin.address} did not accept the credential${origin.struck.length > 0 ? '' : ' (none is configured)'}`,
      mend: 'Set a token that may read and write this repository, then see whether it is taken: machinery doctor.',
      ...told,
    });
  }
  const line =
    said.split(/[\r\n]+/).find((each) => /^(fatal|error): /.test(each)) ?? said.trim().split('\n').at(-1) ?? '';
  return new FactoryError('origin/unreachable', {
    message: `the origin ${origin.address} cannot be reached: ${line.replace(/^(fatal|error): /, '')}`,
    mend: 'See whether the address is right and the host answers, then try again: machinery doctor.',
    ...told,
  });
}

/** The error for an origin that has no main, an empty repository among them. */
export function noBranch(origin: Origin, branch: string): FactoryError {
  return new FactoryError('origin/no-branch', {
    message: `the origin ${origin.address} has no branch ${branch}`,
    mend: `Push a first commit (git push ${origin.address} HEAD:${branch}), or name the right branch in factory.yaml.`,
    data: { origin: origin.address, branch },
  });
}
