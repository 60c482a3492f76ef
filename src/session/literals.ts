/** The long strings of a message line as JSON literals, quotes included, cut out of the line's own text. */
export interface Literals {
  text?: string;
  arguments?: string;
  result?: string;
  failure?: string;
}

/** A line shorter than this, in characters, is written anew as fast as it is cut up. */
const WORTHWHILE = 1024;
const WANTED = new Set(['text', 'arguments', 'result', 'failure']);

/** @param at the opening quote. @returns the index after the closing one. */
function endOfString(json: string, at: number): number {
  for (let quote = json.indexOf('"', at + 1); ; quote = json.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (json.charCodeAt(quote - 1 - slashes) === 92) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
}

function endOfValue(json: string, at: number): number {
  if (json[at] === '"') return endOfString(json, at);
  let depth = 0;
  for (let i = at; ; i += 1) {
    const char = json[i] as string;
    if (char === '"') i = endOfString(json, i) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    if (depth < 0 || (depth === 0 && char === ',')) return i;
    if (depth === 0 && (char === '}' || char === ']')) return i + 1;
  }
}

function skipSpace(json: string, at: number): number {
  let i = at;
  while (json.charCodeAt(i) <= 32) i += 1;
  return i;
}

/** Calls `field` for every key of the object at `at`, with where its value begins and ends. */
function eachField(json: string, at: number, field: (key: string, from: number, to: number) => void): void {
  for (let i = skipSpace(json, at + 1); json[i] === '"'; ) {
    const end = endOfString(json, i);
    const key = json.slice(i + 1, end - 1);
    const from = skipSpace(json, skipSpace(json, end) + 1);
    const to = endOfValue(json, from);
    field(key, from, to);
    i = skipSpace(json, to);
    if (json[i] !== ',') return;
    i = skipSpace(json, i + 1);
  }
}

/**
 * Finds a message's long strings in its line, so that they can be copied into a row as they are: escaping them again is
 * most of the time an export takes otherwise.
 * @param json a line that JSON.parse took; of a key that comes twice the last counts, as it does there.
 */
export function messageLiterals(json: string): Literals {
  let found: Literals = {};
  if (json.length < WORTHWHILE) return found;
  const take = (key: string, from: number, to: number): void => {
    if (WANTED.has(key))
      found[key as keyof Literals] = json[from] === '"' ? json.slice(from, to) : (undefined as never);
  };
  let escapedKey = false;
  eachField(json, json.indexOf('{'), (key, from) => {
    escapedKey ||= key.includes('\\');
    if (key !== 'message') return;
    found = {};
    if (json[from] !== '{') return;
    let activity: Literals = {};
    eachField(json, from, (inner, start, end) => {
      escapedKey ||= inner.includes('\\');
      if (inner === 'text') take(inner, start, end);
      if (inner !== 'activity') return;
      const outer = found;
      found = {};
      if (json[start] === '{') {
        eachField(json, start, (name, first, last) => {
          escapedKey ||= name.includes('\\');
          if (name !== 'text') take(name, first, last);
        });
      }
      activity = found;
      found = outer;
    });
    found = { ...activity, ...(found.text === undefined ? {} : { text: found.text }) };
  });
  // A key written with escapes may be one of ours under another spelling: nothing is sure then.
  return escapedKey ? {} : found;
}
