/**
 * Every way this product can fail, by code. A code never changes its meaning: logs, records and tests name it.
 * The message and the mend are written where the error is made, because that is where the facts are.
 */
export const ERROR_CODES = {
  'config/invalid': 'factory.yaml, the environment or a flag holds something that is not allowed',
  'config/missing': 'factory.yaml is not there',
  'order/invalid': 'the standing order cannot be read or breaks its shape',
  'usage/invalid': 'a command was given arguments that it does not take',
  'data/unwritable': 'the data folder cannot be written',
  'data/full': 'the disk is full',
  'lock/held': 'another process works on this data folder',
  'process/missing': 'a program that is needed is not installed',
  'process/failed': 'a program ended with an error',
  'process/silent': 'a program said nothing for too long and was ended',
  'session/invalid-id': "what was given is not a session's id",
  'session/unknown': 'there is no such session',
  'session/cycle': 'a chain of sessions runs in a circle',
  'row/secret': 'a row holds what looks like a secret',
  'hub/unreachable': 'the dataset hub cannot be reached',
  'hub/denied': 'the dataset hub does not accept the token, or the token may not write',
  'hub/busy': 'the dataset hub asks to wait, or cannot answer now',
  'hub/refused': 'the dataset hub refused what was sent',
  'row/invalid': 'a row breaks its format',
  'row/unknown': 'there is no such row',
  'row/different': 'a row of this id is there already and says something else',
  'catalogue/invalid': 'machines.json cannot be read as a list of entries',
  'gate/no-site': 'a gate found no site folder to judge',
  'gate/no-machine': 'a gate was asked for a machine that the catalogue does not list',
  'origin/unreachable': 'the origin cannot be reached, or said nothing for too long',
  'origin/no-branch': 'the origin does not have the branch, or is empty',
  'origin/auth': 'the origin did not accept the credential',
  'origin/dirty': 'the origin is a folder whose checked-out branch has changes that are not committed',
  'origin/refused': 'the origin refused a push',
  'line/secret': 'a known secret is in what was about to be pushed',
  'line/too-large': 'the checkout holds more than a snapshot may',
  'line/checkout': 'the checkout cannot be made, read or removed',
  'line/git': "git failed on the line's own git dir",
  'line/stopped': 'git was ended because the factory was told to stop at once',
  'harness/cannot-start': 'the harness is not there or could not be started',
  'harness/too-old': 'the external harness lacks an option that the factory needs',
  'harness/leftovers': "a process of the agent's could not be ended",
  'sandbox/unavailable': 'the confinement that was asked for does not work here',
  'sandbox/refused': 'a real model would run unconfined without being told to',
  'provider/key-missing': 'the provider needs a key and none is set',
  'provider/address': 'the provider has no usable address',
  'relay/cannot-start': 'the loopback endpoint for the model could not be opened',
  'line/moved': 'main moved again and again while a shift tried to land',
  'factory/stopping': 'the factory takes no more shifts',
  'factory/unreachable': 'no factory answers on this data folder',
  'shift/unknown': 'there is no such shift',
  'browser/missing': 'no Chromium was found',
  'browser/failed': 'Chromium is there but does not start',
  'console/token': 'the token of the control room is too short',
  'console/cannot-start': 'the control room cannot listen on its address',
  'factory/unhealthy': 'no factory answers, or it says that something is wrong',
  'publish/not-ours': 'the folder to publish to holds something that publish did not make',
  'internal/unexpected': 'something happened that nobody planned for',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error told to a person: what happened (message), how to mend it (mend), and the facts behind it (data, never secret). */
export class FactoryError extends Error {
  readonly code: ErrorCode;
  readonly mend: string;
  readonly data: Record<string, unknown>;

  constructor(
    code: ErrorCode,
    told: { message: string; mend: string; data?: Record<string, unknown>; cause?: unknown },
  ) {
    super(told.message, told.cause === undefined ? undefined : { cause: told.cause });
    this.name = 'FactoryError';
    this.code = code;
    this.mend = told.mend;
    this.data = told.data ?? {};
  }
}

const SYSTEM_ERRORS: Record<string, { code: ErrorCode; mend: string }> = {
  ENOSPC: { code: 'data/full', mend: 'Free some disk space; nothing that was written before is lost.' },
  EDQUOT: {
    code: 'data/full',
    mend: 'Raise the disk quota or free some space; nothing that was written before is lost.',
  },
  EROFS: {
    code: 'data/unwritable',
    mend: 'Mount the data folder writable, or set MACHINERY_DATA to a folder that is.',
  },
  EACCES: {
    code: 'data/unwritable',
    mend: "Give the factory's user write access to the folder, or set MACHINERY_DATA to one it owns.",
  },
  EPERM: {
    code: 'data/unwritable',
    mend: "Give the factory's user write access to the folder, or set MACHINERY_DATA to one it owns.",
  },
};

/** Turns anything thrown into a FactoryError; what nobody planned for keeps its message under `internal/unexpected`. */
export function asFactoryError(thrown: unknown): FactoryError {
  if (thrown instanceof FactoryError) return thrown;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const known = SYSTEM_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
  if (known) return new FactoryError(known.code, { message: error.message, mend: known.mend, cause: error });
  return new FactoryError('internal/unexpected', {
    message: error.message,
    mend: "This is a fault of the factory itself: report it with the shift's log.ndjson.",
    cause: error,
  });
}
