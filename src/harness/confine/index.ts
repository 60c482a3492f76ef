import type { SandboxKind } from '../types.ts';
import { bwrap } from './bwrap.ts';
import type { Confinement } from './confinement.ts';
import { none } from './none.ts';
import { user } from './user.ts';

export type { Confinement } from './confinement.ts';

const CONFINEMENTS: Record<SandboxKind, Confinement> = { bwrap, user, none };

/** The confinement of a kind. */
export function confinementOf(kind: SandboxKind): Confinement {
  return CONFINEMENTS[kind];
}
