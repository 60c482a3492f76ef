import { lstat, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { secretForms } from '../support/redact.ts';
import { readRow } from './row-reader.ts';
import { textsIn } from './texts.ts';
import { type Found, TokenRules } from './tokens.ts';

/** A secret in a row, told without it. */
export interface Hit {
  /** `known-secret`, or the rule of the linter that knows such tokens: `github/github-token`. */
  rule: string;
  place: string;
}

export const KNOWN = 'known-secret';

/** Finds a row's secrets. Every place is told once a rule; the texts must not leave this program. */
export async function findSecrets(folder: string, id: string, secrets: readonly string[]): Promise<Found[]> {
  const forms = [...new Set(secrets.flatMap(secretForms))];
  const found = new Map<string, Found>();
  const note = (hits: Found[]): void => {
    for (const hit of hits) found.set(`${hit.rule} ${hit.place} ${hit.text}`, hit);
  };
  note(await inFiles(folder, forms));
  const rules = new TokenRules();
  const at = { message: -1, snapshot: -1 };
  for await (const part of readRow(join(folder, `${id}.jsonl`))) {
    for (const text of textsIn(part.message ?? part.value, placeOf(part, at))) {
      note(
        forms
          .filter((form) => text.text.includes(form))
          .map((form) => ({ rule: KNOWN, place: text.place, text: form })),
      );
      note(await rules.add(text));
    }
  }
  note(await rules.flush());
  return [...found.values()];
}

/** What must hold a row back: rule and place, never the secret. */
export async function scanRow(folder: string, id: string, secrets: readonly string[]): Promise<Hit[]> {
  const found = await findSecrets(folder, id, secrets);
  // A place is made of a row's own keys, so it could hold the secret itself.
  const told = (place: string): string => found.reduce((text, hit) => text.replaceAll(hit.text, '[redacted]'), place);
  const hits = new Map(found.map(({ rule, place }) => [`${rule} ${place}`, { rule, place: told(place) }]));
  return [...hits.values()];
}

/** Names one part of a row after another, counting messages as it goes. */
function placeOf(part: { key: string; snapshot?: number }, at: { message: number; snapshot: number }): string {
  if (part.key === 'messages') {
    at.message += 1;
    return `messages[${at.message}]`;
  }
  if (part.snapshot === undefined) return part.key;
  if (part.snapshot !== at.snapshot) Object.assign(at, { message: -1, snapshot: part.snapshot });
  at.message += 1;
  return `snapshots[${part.snapshot}][${at.message}]`;
}

/** Known secrets in the names of a row's files and in the bytes of its images. */
async function inFiles(folder: string, forms: string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    for (const form of forms)
      if (name.includes(form)) found.push({ rule: KNOWN, place: 'the name of a file', text: form });
    if (!name.startsWith('images/') || !(await lstat(join(folder, name))).isFile()) continue;
    const bytes = await readFile(join(folder, name));
    for (const form of forms) if (bytes.includes(form)) found.push({ rule: KNOWN, place: name, text: form });
  }
  return found;
}
