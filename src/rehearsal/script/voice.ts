import type { MachineFile } from '../../catalogue/entry.ts';

/** What the model thinks (reasoning) and says (text) in one turn. */
export interface Line {
  reasoning: string;
  text?: string;
}

/** One of ten ideas: struck when the shelf has its like, or for a reason of its own. */
export interface Candidate {
  idea: string;
  /** Words that give away a machine of the same sort on the shelf. */
  like: string[];
  domain: string;
  era: string;
  /** Why it is struck even from an empty shelf; absent for those that may stay. */
  generic?: string;
}

/** The three pictures of a probe, each with what it shows. */
export type Seen = Record<Shot, string>;
export type Shot = 'desktop' | 'phone' | 'manual';
export const SHOTS = ['desktop', 'phone', 'manual'] as const satisfies Shot[];

/** Everything that is said while one piece is played. */
export interface Voice {
  candidates: Candidate[];
  choice: string;
  brief: string;
  files: Record<MachineFile, string>;
  entry: string;
  /** After the first commissioning: what its three pictures showed, and what follows from it. */
  first: Seen;
  mend: Line;
  /** After the second. */
  final: Seen;
  summary: string;
}
