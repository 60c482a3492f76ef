/** One machine as the catalogue knows it (docs/formats.md, section 6). */
export interface Entry {
  /** `a-z0-9` words joined by single dashes; also the name of the machine's folder. */
  slug: string;
  name: string;
  kind: string;
  domain: string;
  era: string;
  /** The design in at least six words. */
  design: string;
  interaction: string;
  /** At least three colours as `#rrggbb`: chassis, accent, alarm, then any others. */
  palette: string[];
  /** At least four names; each is on the panel as `data-control`. */
  controls: string[];
  /** At least two names; each is on the panel as `data-fault`. */
  faults: string[];
  tagline: string;
  /** UTC date, `YYYY-MM-DD`. */
  created: string;
}

/** The keys of an entry, in the order in which they are written. */
export const KEY_ORDER = [
  'slug',
  'name',
  'kind',
  'domain',
  'era',
  'design',
  'interaction',
  'palette',
  'controls',
  'faults',
  'tagline',
  'created',
] as const satisfies readonly (keyof Entry)[];

/** The least length of each list of an entry. */
export const LIST_MINIMUM = { palette: 3, controls: 4, faults: 2 } as const;

export const SLUG_PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** The four files of a machine, in the order in which they are told. */
export const MACHINE_FILES = ['index.html', 'machine.css', 'machine.js', 'manual.html'] as const;
export type MachineFile = (typeof MACHINE_FILES)[number];
