/** The long strings of a message line as JSON literals, quotes included, cut out of the line's own text. */
export interface Literals {
  text?: string;
  arguments?: string;
  result?: string;
  failure?: string;
}

/** A line shorter than this, in characters, is written anew as fast as it is cut up. */
export const WORTHWHILE = 1024;

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

/**
 * Calls `field` for every key of the object at `at`, with where its value begins. It returns where the value ends when it
 * went over it, so that nothing is gone over twice.
 * @returns the index after the object.
 */
function eachField(json: string, at: number, field: (key: string, from: number) => number | undefined): number {
  let i = skipSpace(json, at + 1);
  while (json[i] === '"') {
    const end = endOfString(json, i);
    const key = json.slice(i + 1, end - 1);
    const from = skipSpace(json, skipSpace(json, end) + 1);
    i = skipSpace(json, field(key, from) ?? endOfValue(json, from));
    if (json[i] === ',') i = skipSpace(json, i + 1);
  }
  return i + 1;
}

/**
 * Finds a message's long strings in its line, so that they can be copied into a row as they are: escaping them again is
 * most of the time an export takes otherwise.
 * @param json a line that JSON.parse took; of a key that comes twice the last counts, as it does there.
 */
export function messageLiterals(json: string): Literals {
  if (json.length < WORTHWHILE) return {};
  let text: string | undefined;
  let activity: Literals = {};
  let sure = true;
  const literal = (from: number, to: number): string | undefined =>
    json[from] === '"' ? json.slice(from, to) : undefined;
  // A key written with escapes may be one of ours under another spelling: nothing is sure then.
  const plain = (key: string): void => {
    if (key.includes('\\')) sure = false;
  };
  const ofActivity = (key: string, from: number): number | undefined => {
    plain(key);
    if (key !== 'arguments' && key !== 'result' && key !== 'failure') return undefined;
    const to = endOfValue(json, from);
    const found = literal(from, to);
    if (found === undefined) delete activity[key];
    else activity[key] = found;
    return to;
  };
  const ofMessage = (key: string, from: number): number | undefined => {
    plain(key);
    if (key === 'activity') {
      activity = {};
      return json[from] === '{' ? eachField(json, from, ofActivity) : undefined;
    }
    if (key !== 'text') return undefined;
    const to = endOfValue(json, from);
    text = literal(from, to);
    return to;
  };
  eachField(json, json.indexOf('{'), (key, from) => {
    plain(key);
    if (key !== 'message') return undefined;
    [text, activity] = [undefined, {}];
    return json[from] === '{' ? eachField(json, from, ofMessage) : undefined;
  });
  if (!sure) return {};
  return text === undefined ? activity : { ...activity, text };
}
