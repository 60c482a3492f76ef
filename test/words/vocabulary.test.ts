import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_VOCABULARY } from '../../src/catalogue/vocabulary.ts';
import { sentenceList, text } from './texts.ts';

/** The vocabulary this factory is configured with: what factory.yaml says, else the default. */
function configured(): { domains: readonly string[]; eras: readonly string[] } {
  const settings =
    (parse(text('factory.yaml')) as { catalogue?: { domains?: string[]; eras?: string[] } } | null) ?? {};
  return {
    domains: settings.catalogue?.domains ?? DEFAULT_VOCABULARY.domains,
    eras: settings.catalogue?.eras ?? DEFAULT_VOCABULARY.eras,
  };
}

describe('the vocabulary', () => {
  it('is told to the agent as factory.yaml configures it', () => {
    const contract = text('AGENTS.md');
    expect(sentenceList(contract, 'Domains')).toEqual(configured().domains);
    expect(sentenceList(contract, 'Eras')).toEqual(configured().eras);
  });

  it('is written down in docs/formats.md as the code has it by default', () => {
    const formats = text('docs/formats.md');
    expect(sentenceList(formats, 'Domains')).toEqual(DEFAULT_VOCABULARY.domains);
    expect(sentenceList(formats, 'Eras')).toEqual(DEFAULT_VOCABULARY.eras);
  });

  it('makes as many places as the contract and the formats say', () => {
    const { domains, eras } = configured();
    expect(text('AGENTS.md')).toContain(`there are ${domains.length * eras.length}.`);
    const places = DEFAULT_VOCABULARY.domains.length * DEFAULT_VOCABULARY.eras.length;
    expect(text('docs/formats.md')).toContain(`: ${places} places.`);
  });

  it('has each word once', () => {
    for (const words of [DEFAULT_VOCABULARY.domains, DEFAULT_VOCABULARY.eras]) {
      expect(new Set(words).size).toBe(words.length);
    }
  });
});
