import type { Config } from '../config/load.ts';

/** What one look at the factory's surroundings found. */
export interface Examination {
  name: string;
  /** `warning`: shifts can be worked, but somebody should know. `broken`: they cannot, or not as configured. */
  state: 'ok' | 'warning' | 'broken';
  /** One line: what was seen. */
  told: string;
  /** How to mend it; absent when there is nothing to mend. */
  mend?: string;
}

/** What an examiner is given. */
export interface Surroundings {
  config: Config;
  /** Whether the model's provider may be called, which can cost a little. */
  live: boolean;
  now: Date;
}

/** Looks at one thing. What it throws is told as broken, with the error's own mend. */
export interface Examiner {
  name: string;
  look(at: Surroundings): Promise<Omit<Examination, 'name'>>;
}

export const ok = (told: string): Omit<Examination, 'name'> => ({ state: 'ok', told });
export const warning = (told: string, mend: string): Omit<Examination, 'name'> => ({ state: 'warning', told, mend });
export const broken = (told: string, mend: string): Omit<Examination, 'name'> => ({ state: 'broken', told, mend });
