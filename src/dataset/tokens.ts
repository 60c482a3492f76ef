import type { Text } from './texts.ts';

/** What was found: which rule says so, where, and the very text, which must never be told. */
export interface Found {
  rule: string;
  place: string;
  text: string;
}

/** Characters linted at once: large enough that starting the linter does not count, small enough to hold. */
const BATCH = 512 * 1024;

/**
 * Looks for tokens nobody told us about, with secretlint's recommended rules: texts are gathered into batches, because one
 * run of the linter costs the same for a word and for half a megabyte.
 */
export class TokenRules {
  #texts: Text[] = [];
  #held = 0;

  /** Adds a text. @returns what the batch it filled holds. */
  async add(text: Text): Promise<Found[]> {
    this.#texts.push(text);
    this.#held += text.text.length;
    return this.#held >= BATCH ? this.flush() : [];
  }

  /** Lints what is left. */
  async flush(): Promise<Found[]> {
    const texts = this.#texts;
    this.#texts = [];
    this.#held = 0;
    if (texts.length === 0) return [];
    const whole = texts.map(({ text }) => text).join('\n\n');
    const found = await lint(whole);
    return found.map(({ rule, from, to }) => ({ rule, place: placeAt(texts, from), text: whole.slice(from, to) }));
  }
}

function placeAt(texts: Text[], at: number): string {
  let end = 0;
  for (const { place, text } of texts) {
    end += text.length + 2;
    if (at < end) return place;
  }
  return '';
}

async function lint(content: string): Promise<{ rule: string; from: number; to: number }[]> {
  const { lintSource } = await import('@secretlint/core');
  const { creator } = await import('@secretlint/secretlint-rule-preset-recommend');
  const result = await lintSource({
    // A comment can switch the linter off. Whoever wrote the row does not decide that; the length stays the same.
    source: {
      filePath: '/row.txt',
      content: content.replaceAll('secretlint-', 'secretlint_'),
      ext: '.txt',
      contentType: 'text',
    },
    options: {
      config: { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }] },
      maskSecrets: true,
    },
  });
  return result.messages.map(({ ruleId, messageId, range: [from, to] }) => {
    const name = ruleId.replace('@secretlint/secretlint-rule-', '');
    return { rule: `${name}/${messageId}`.toLowerCase().replaceAll('_', '-'), from, to };
  });
}
