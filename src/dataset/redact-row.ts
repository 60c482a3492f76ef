import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import { syncFolder } from '../support/files.ts';
import { wellFormedJson } from '../support/json.ts';
import { secretForms } from '../support/redact.ts';
import type { MachineryBlock } from '../trajectory/machinery.ts';
import { Spool } from '../trajectory/spool.ts';
import { Outbox } from './outbox.ts';
import { Quarantine } from './quarantine.ts';
import { partOf, readPieces } from './row-reader.ts';
import { KNOWN, findSecrets, scanRow } from './scan.ts';
import { DatasetStore } from './store.ts';
import { mapTexts } from './texts.ts';
import type { Found } from './tokens.ts';

/** Takes found secrets out of texts and counts what it took, by rule. */
class Redaction {
  readonly counts: Record<string, number> = {};
  readonly #wanted: { text: string; mark: string; rule: string }[];
  /** Images whose bytes hold a secret: they are left out whole. */
  readonly images: Set<string>;

  constructor(found: Found[], secrets: readonly string[]) {
    const texts = new Map(secrets.flatMap(secretForms).map((form) => [form, KNOWN]));
    for (const { text, rule } of found) if (!texts.has(text)) texts.set(text, rule);
    // As it stands in JSON inside a string, too: a tool call's arguments.
    for (const [text, rule] of [...texts]) texts.set(JSON.stringify(text).slice(1, -1), rule);
    this.#wanted = [...texts]
      .filter(([text]) => text !== '')
      .sort(([a], [b]) => b.length - a.length)
      .map(([text, rule]) => ({ text, rule, mark: `[redacted:${rule}]` }));
    this.images = new Set(found.filter(({ place }) => place.startsWith('images/')).map(({ place }) => place));
  }

  /** A value without the secrets. An image that must go becomes a text that says so. */
  value(value: unknown, key = ''): unknown {
    return mapTexts(this.#withoutImages(value, key), (text) => this.#text(text));
  }

  #text(text: string): string {
    const plain = this.#plain(text);
    // Escapes can spell a secret in JSON inside a string; then what it decodes to is cleaned and written again.
    if (!plain.includes('\\')) return plain;
    try {
      const value = JSON.parse(plain) as unknown;
      const before = JSON.stringify(value);
      const after = JSON.stringify(mapTexts(value, (inner) => this.#plain(inner)));
      return before === after ? plain : after;
    } catch {
      return plain;
    }
  }

  #plain(text: string): string {
    let plain = text;
    for (const { text: secret, rule, mark } of this.#wanted) {
      const parts = plain.split(secret);
      if (parts.length > 1) this.counts[rule] = (this.counts[rule] ?? 0) + parts.length - 1;
      plain = parts.join(mark);
    }
    return plain;
  }

  #withoutImages(value: unknown, key: string): unknown {
    if (this.images.size === 0) return value;
    if (key === 'images' && Array.isArray(value)) return value.filter((path) => !this.images.has(path as string));
    const message = value as { content?: unknown } | null;
    if (typeof message !== 'object' || !Array.isArray(message?.content)) return value;
    const content = message.content.map((part: { image?: string } | null) =>
      part?.image !== undefined && this.images.has(part.image) ? { type: 'text', text: this.#gone() } : part,
    );
    return { ...message, content };
  }

  #gone(): string {
    this.counts[KNOWN] = (this.counts[KNOWN] ?? 0) + 1;
    return `[redacted:${KNOWN}]`;
  }
}

/** Writes a row again, piece by piece, with every piece put through the redaction; the machinery block comes last. */
async function rewrite(from: string, to: string, redaction: Redaction): Promise<void> {
  const spool = await Spool.create(to);
  let open = '';
  let snapshot = -1;
  let keys = 0;
  const close = (): void => {
    if (open === 'messages') spool.push(']');
    if (open === 'snapshots') spool.push(']]');
    open = '';
  };
  try {
    for await (const pieces of readPieces(from)) {
      for (const piece of pieces) {
        const part = partOf(piece);
        const listed = part.message !== undefined;
        if (!listed || part.key !== open) {
          close();
          spool.push(`${keys === 0 ? '{' : ','}${JSON.stringify(part.key)}:${listed ? '[' : ''}`);
          if (part.key === 'snapshots') spool.push('[');
          keys += 1;
          open = listed ? part.key : '';
          snapshot = piece.snapshot ?? -1;
        } else if (piece.snapshot !== undefined && piece.snapshot !== snapshot) {
          spool.push('],[');
          snapshot = piece.snapshot;
        } else {
          spool.push(',');
        }
        let value = redaction.value(part.message ?? part.value, part.key);
        if (part.key === 'machinery') {
          const block = value as MachineryBlock;
          value = { ...block, shift: { ...block.shift, redactions: redaction.counts } };
        }
        spool.push(wellFormedJson(value));
      }
      await spool.drain();
    }
    close();
    spool.push('}\n');
    await spool.sync();
  } finally {
    await spool.close();
  }
}

/**
 * Takes the secrets out of a held row, puts it back in the store and in the outbox, and lets the held one go. The row says
 * in `machinery.shift.redactions` how many it lost, by rule.
 * @returns how many were taken out, by rule.
 * @throws FactoryError `row/unknown` when no such row is held; `row/secret` when something is still found in the result,
 *   which then stays held as it was.
 */
export async function redactRow(data: string, id: string, secrets: readonly string[]): Promise<Record<string, number>> {
  const quarantine = new Quarantine(data);
  const held = quarantine.rowFolder(id);
  if (!(await quarantine.has(id))) {
    throw new FactoryError('row/unknown', {
      message: `no row ${id} is held in quarantine`,
      mend: 'Look into the quarantine folder for the ids it has.',
    });
  }
  const store = new DatasetStore(join(data, 'dataset'));
  const redaction = new Redaction(await findSecrets(held, id, secrets), secrets);
  const target = store.rowFolder(id);
  const made = join(dirname(target), `.${id}.${'0'.repeat(12)}.tmp`);
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true, mode: 0o700 });
  try {
    await rewrite(join(held, `${id}.jsonl`), join(made, `${id}.jsonl`), redaction);
    for (const name of await readdir(join(held, 'images')).catch(() => [] as string[])) {
      if (redaction.images.has(`images/${name}`)) continue;
      await mkdir(join(made, 'images'), { recursive: true, mode: 0o700 });
      await copyFile(join(held, 'images', name), join(made, 'images', name));
    }
    const [left] = await scanRow(made, id, secrets);
    if (left) {
      throw new FactoryError('row/secret', {
        message: `row ${id} still holds what looks like a secret (${left.rule}, ${left.place})`,
        mend: 'The row stays in quarantine as it was. Remove it there if it is not worth keeping.',
        data: { id, ...left },
      });
    }
    await rm(target, { recursive: true, force: true });
    await rename(made, target);
    await syncFolder(dirname(target));
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  await new Outbox(data).add(id);
  await store.refresh(id);
  await quarantine.drop(id);
  return redaction.counts;
}
