import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionActivity, SessionImage, SessionMessage, SessionResult } from '../../src/session/types.ts';

/** Small logs written line by line, with a clock that moves a second a line. */

export const RESULT: SessionResult = {
  reason: 'settled',
  message: 'Made a tug.',
  code: 0,
  iterations: 4,
  calls: 3,
  continuations: 0,
  cycles: 0,
  settles: 1,
  inputTokens: 1200,
  outputTokens: 80,
};

export type Line = Record<string, unknown> | string;

export const user = (text: string): Line => message({ type: 'user', text });
export const bot = (text: string): Line => message({ type: 'bot', text });
export const reasoning = (text: string): Line => message({ type: 'reasoning', text });
export const checkpoint = (text: string): Line => message({ type: 'checkpoint', text });
export const attachment = (text: string, ...images: SessionImage[]): Line =>
  message({ type: 'attachment', text, images });
export const event = (kind: string): Line => ({ kind: 'event', event: { kind } });
export const reset: Line = { kind: 'reset' };
export const result = (more: Partial<SessionResult> = {}): Line => ({ kind: 'result', result: { ...RESULT, ...more } });

export function message(said: SessionMessage): Line {
  return { kind: 'message', message: said };
}

export function request(id: string, name: string, args: unknown, more: Partial<SessionActivity> = {}): Line {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return message({ type: 'activity', text: '', activity: { kind: 'request', id, name, arguments: text, ...more } });
}

export function response(id: string, name: string, more: Partial<SessionActivity>): Line {
  return message({ type: 'activity', text: '', activity: { kind: 'response', id, name, ...more } });
}

/** A call and its answer. */
export function call(id: string, name: string, args: unknown, answer: unknown = 'ok'): Line[] {
  return [request(id, name, args), response(id, name, { result: answer })];
}

/** Writes `dir/<id>.jsonl`. The meta line comes first, unless one of the lines is one. */
export async function writeLog(
  dir: string,
  id: string,
  lines: Line[],
  meta: Record<string, unknown> = {},
): Promise<void> {
  const start = Date.parse(
    `${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6, 8)}T${id.slice(9, 11)}:${id.slice(11, 13)}:${id.slice(13, 15)}Z`,
  );
  const first: Line = {
    kind: 'meta',
    meta: {
      id,
      task: 'Make one machine.',
      model: 'model-1',
      provider: 'rehearsal',
      driver: 'custom',
      workdir: '/c',
      ...meta,
    },
  };
  const stamped = [first, ...lines].map((line, index) =>
    typeof line === 'string'
      ? line
      : JSON.stringify({ kind: line.kind, at: new Date(start + index * 1000).toISOString(), ...line }),
  );
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, `${id}.jsonl`), `${stamped.join('\n')}\n`);
}

/** Keeps an image's bytes in a session's blobs folder. */
export async function writeImage(dir: string, id: string, content: string | Buffer): Promise<SessionImage> {
  const bytes = Buffer.from(content);
  const hex = createHash('sha256').update(bytes).digest('hex');
  await mkdir(join(dir, `${id}.blobs`), { recursive: true });
  await writeFile(join(dir, `${id}.blobs`, `${hex}.png`), bytes);
  return { media_type: 'image/png', digest: `sha256:${hex}`, size: bytes.length, source: 'blob' };
}

/** Where a row keeps that image. */
export const imagePath = (image: SessionImage): string => `images/${image.digest.slice('sha256:'.length)}.png`;
