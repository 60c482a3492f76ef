/** The words an entry may use for its place on the shelf: every pair of a domain and an era is one place. */
export interface Vocabulary {
  domains: readonly string[];
  eras: readonly string[];
}

export const DOMAINS = [
  'aerospace',
  'agriculture',
  'aviation',
  'broadcast',
  'chemical',
  'civic',
  'cold-chain',
  'data-centre',
  'deep-sea',
  'energy',
  'laboratory',
  'marine',
  'medical',
  'military',
  'mining',
  'nuclear',
  'oil-and-gas',
  'power-grid',
  'rail',
  'road',
  'space',
  'telecom',
  'theatre',
  'water',
  'weather',
] as const;

export const ERAS = [
  '1920s',
  '1940s',
  '1950s',
  '1960s',
  '1970s',
  '1980s',
  '1990s',
  '2000s',
  '2020s',
  'speculative',
] as const;

/** What holds where factory.yaml does not say otherwise: 25 domains and 10 eras, 250 places. */
export const DEFAULT_VOCABULARY: Vocabulary = Object.freeze({ domains: DOMAINS, eras: ERAS });
