import type {
  SessionActivity,
  SessionImage,
  SessionLine,
  SessionMessage,
  SessionMeta,
  SessionResult,
} from './types.ts';

type Loose = Record<string, unknown>;

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Keeps the named fields that are strings and not empty. */
function strings<K extends string>(from: Loose, ...keys: K[]): Partial<Record<K, string>> {
  const kept: Partial<Record<K, string>> = {};
  for (const key of keys) if (typeof from[key] === 'string' && from[key] !== '') kept[key] = from[key];
  return kept;
}

function numbers<K extends string>(from: Loose, ...keys: K[]): Partial<Record<K, number>> {
  const kept: Partial<Record<K, number>> = {};
  for (const key of keys) if (typeof from[key] === 'number') kept[key] = from[key];
  return kept;
}

function asMeta(meta: Loose): SessionMeta {
  return {
    id: text(meta.id),
    task: text(meta.task),
    model: text(meta.model),
    provider: text(meta.provider),
    driver: text(meta.driver),
    ...strings(meta, 'workdir', 'resumedFrom'),
  };
}

function asImage(image: unknown): SessionImage | null {
  if (!isObject(image) || typeof image.digest !== 'string') return null;
  return {
    media_type: text(image.media_type),
    digest: image.digest,
    ...numbers(image, 'width', 'height', 'size', 'tokens'),
    ...strings(image, 'origin', 'detail', 'data'),
    source: image.source === 'inline' ? 'inline' : 'blob',
  };
}

const CALL_TEXTS = ['id', 'name', 'arguments', 'failure'] as const;
const CALL_VALUES = ['result', 'reasoning_items', 'reasoning_details'] as const;

/** Filled key by key, as messages are: a log is mostly made of these, and spreading costs more than all else here. */
function asActivity(activity: Loose): SessionActivity {
  const made: SessionActivity = { kind: text(activity.kind) };
  for (const key of CALL_TEXTS) {
    const value = activity[key];
    if (typeof value === 'string' && value !== '') made[key] = value;
  }
  for (const key of CALL_VALUES) if (activity[key] !== undefined) made[key] = activity[key];
  return made;
}

function asMessage(message: Loose): SessionMessage | null {
  if (typeof message.type !== 'string') return null;
  const made: SessionMessage = { type: message.type, text: text(message.text) };
  if (isObject(message.activity)) made.activity = asActivity(message.activity);
  if (Array.isArray(message.images)) {
    const images = message.images.map(asImage).filter((image) => image !== null);
    if (images.length > 0) made.images = images;
  }
  return made;
}

/**
 * Gives a parsed line its shape, or null when it carries nothing a reader knows: an unknown kind, or a known one whose
 * payload is not there. Only a `result` keeps fields that are not named here, because a row repeats it as recorded.
 */
export function asLine(value: unknown): SessionLine | null {
  if (!isObject(value)) return null;
  const at = text(value.at);
  switch (value.kind) {
    case 'meta':
      return isObject(value.meta) ? { at, kind: 'meta', meta: asMeta(value.meta) } : null;
    case 'message': {
      const message = isObject(value.message) ? asMessage(value.message) : null;
      return message && { at, kind: 'message', message };
    }
    case 'event': {
      if (!isObject(value.event) || typeof value.event.kind !== 'string') return null;
      const event = {
        kind: value.event.kind,
        ...strings(value.event, 'tool', 'text'),
        ...numbers(value.event, 'iteration'),
      };
      return { at, kind: 'event', event };
    }
    case 'reset':
      return { at, kind: 'reset' };
    case 'result':
      if (!isObject(value.result) || typeof value.result.reason !== 'string') return null;
      return { at, kind: 'result', result: value.result as unknown as SessionResult };
    default:
      return null;
  }
}

/** Reads one line's text. @returns its shape; null for a line that says nothing known; undefined when it is not JSON. */
export function parseLine(line: string): SessionLine | null | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return asLine(value);
}
