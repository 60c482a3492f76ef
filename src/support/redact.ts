import { StringDecoder } from 'node:string_decoder';
import { Transform, type TransformCallback } from 'node:stream';

/** A secret shorter than this would be found everywhere by chance; such values are refused as secrets elsewhere. */
const SHORTEST = 6;

/** The part of base64 that a secret always leaves, whatever stands before and after it, for one of the three alignments. */
function base64At(secret: Buffer, offset: 0 | 1 | 2): string {
  const padded = Buffer.concat([Buffer.alloc(offset), secret]);
  const text = padded.toString('base64').replace(/=+$/, '');
  // Characters that also hold bits of the bytes before and after belong to neither.
  const from = offset === 0 ? 0 : offset + 1;
  const whole = Math.floor((padded.length * 8) / 6);
  return text.slice(from, whole);
}

/**
 * Every form in which a secret could be seen: raw, URL-encoded, base64 (plain and URL-safe, in all three alignments),
 * JSON-escaped, hex in both cases. Longest first, no form twice.
 */
export function secretForms(secret: string): string[] {
  if (secret.length < SHORTEST) return secret === '' ? [] : [secret];
  const bytes = Buffer.from(secret);
  const base64 = ([0, 1, 2] as const)
    .map((offset) => base64At(bytes, offset))
    .filter((text) => text.length >= SHORTEST);
  const hex = bytes.toString('hex');
  const forms = [
    secret,
    encodeURIComponent(secret),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    JSON.stringify(secret).slice(1, -1),
    hex,
    hex.toUpperCase(),
  ];
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export interface Redactor {
  /** The text with every known secret, in every form, replaced by `[redacted]`. */
  (text: string): string;
  /** The length of the longest form. */
  reach: number;
  /** Whether a newline may be part of a form, so that the end of a line is not the end of a secret. */
  multiline: boolean;
}

/** Makes a function that takes known secrets out of text. */
export function redactor(secrets: readonly string[]): Redactor {
  const forms = [...new Set(secrets.flatMap(secretForms))].sort((a, b) => b.length - a.length);
  if (forms.length === 0) return Object.assign((text: string) => text, { reach: 0, multiline: false });
  const pattern = new RegExp(forms.map(escaped).join('|'), 'g');
  return Object.assign((text: string) => text.replace(pattern, '[redacted]'), {
    reach: forms[0]?.length ?? 0,
    multiline: forms.some((form) => form.includes('\n')),
  });
}

/**
 * A stream that redacts text also where a secret straddles chunks: the last characters, as many as the longest form
 * has, are held back until more text comes or the stream ends. Whole lines pass at once when no form holds a newline.
 */
export class RedactStream extends Transform {
  readonly #redact: Redactor;
  readonly #decoder = new StringDecoder('utf8');
  #held = '';

  constructor(secrets: readonly string[]) {
    super();
    this.#redact = redactor(secrets);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = this.#redact(this.#held + this.#decoder.write(chunk));
    const newline = this.#redact.multiline ? 0 : text.lastIndexOf('\n') + 1;
    const cut = Math.max(newline, text.length - Math.max(0, this.#redact.reach - 1));
    this.#held = text.slice(cut);
    done(null, text.slice(0, cut));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#redact(this.#held + this.#decoder.end()));
  }
}
