/** A string of a row and where it stands. */
export interface Text {
  /** `messages[3].tool_calls[0].function.arguments`. */
  place: string;
  text: string;
}

/** Deeper than any row of ours. What is nested further is not walked: its JSON is one text. */
const DEEPEST = 100;

/**
 * Every string in a value, its keys included, with its place. A tool call's arguments are JSON in a string: what that JSON
 * decodes to is told too, so that an escape does not hide anything.
 */
export function* textsIn(value: unknown, place: string, depth = 0): Generator<Text> {
  if (typeof value === 'string') {
    yield { place, text: value };
    if (place.endsWith('.arguments')) yield* decoded(value, place, depth);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEEPEST) {
    yield { place, text: JSON.stringify(value) };
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(item, `${place}[${index}]`, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key.length >= 6) yield { place: `a key of ${place}`, text: key };
    yield* textsIn(item, `${place}.${key.slice(0, 60)}`, depth + 1);
  }
}

function* decoded(args: string, place: string, depth: number): Generator<Text> {
  // Without an escape it decodes to what was looked at already.
  if (!args.includes('\\')) return;
  try {
    yield* textsIn(JSON.parse(args), `${place} (decoded)`, depth + 1);
  } catch {
    // Not JSON: a model may send anything.
  }
}

/** A copy of a value with every string, keys left alone, put through `change`. */
export function mapTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change, depth + 1)]));
}
