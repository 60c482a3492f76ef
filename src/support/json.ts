/** Half of a surrogate pair as JSON.stringify writes it; it writes whole pairs as they are. */
const HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * JSON on one line that every reader takes: half of a surrogate pair, which cannot be written in UTF-8 and which DuckDB
 * and Arrow refuse, becomes U+FFFD.
 * @throws RangeError when the value is nested deeper than the stack.
 */
export function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.includes('\\ud') ? json.replace(HALF, '$1\\ufffd') : json;
}

/** Whether JSON.stringify would have to write half of a surrogate pair for this value. */
export function hasHalfPair(value: unknown): boolean {
  return (JSON.stringify(value) ?? '').search(HALF) !== -1;
}
