/** Where things stand in a JSON text: what `JSON.parse` does not tell. Read only when something is wrong. */

export interface Position {
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
}

/** Finds lines and columns in a text that is asked about often: its lines are counted once. */
export function positionsIn(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    if (!starts) {
      starts = [0];
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    }
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  };
}

/** The line and column of one place in a text. */
export function positionAt(text: string, offset: number): Position {
  return positionsIn(text)(offset);
}

/** One item of a list at the top of a JSON text: where it begins, and where each of its own keys does. */
export interface Item {
  offset: number;
  keys: Map<string, number>;
}

export interface Outline {
  /** The first place where the text stops being JSON. */
  fault: { offset: number; expected: string } | null;
  items: Item[];
}

const TOKEN =
  /[ \t\n\r]+|(?<string>"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?<scalar>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w))|(?<mark>[[\]{},:])/y;

type Want = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or ]' | ', or }' | 'the end';

/** Walks a JSON text token by token, without recursion, so that no depth of nesting can overflow. */
export function outline(text: string): Outline {
  const items: Item[] = [];
  const stack: ('[' | '{')[] = [];
  let want: Want = 'value';
  const after = (): Want => {
    const top = stack.at(-1);
    return top === undefined ? 'the end' : top === '[' ? ', or ]' : ', or }';
  };
  let offset = 0;
  const fault = () => ({ fault: { offset, expected: want }, items });
  while (offset < text.length) {
    TOKEN.lastIndex = offset;
    const match = TOKEN.exec(text);
    if (!match) return fault();
    const { string, scalar, mark } = match.groups ?? {};
    const token = mark ?? (string === undefined ? (scalar === undefined ? 'space' : 'scalar') : 'string');
    if (token === 'space') {
      offset = TOKEN.lastIndex;
      continue;
    }
    const mayBeValue: boolean = want === 'value' || want === 'value or ]';
    if (mayBeValue && ['string', 'scalar', '[', '{'].includes(token)) {
      if (stack.length === 1 && stack[0] === '[') items.push({ offset, keys: new Map() });
      if (token === '[' || token === '{') {
        stack.push(token);
        want = token === '[' ? 'value or ]' : 'key or }';
      } else want = after();
    } else if ((want === 'key' || want === 'key or }') && token === 'string') {
      if (stack.length === 2 && stack[0] === '[') items.at(-1)?.keys.set(JSON.parse(string as string), offset);
      want = ':';
    } else if (want === ':' && token === ':') want = 'value';
    else if ((want === 'value or ]' || want === ', or ]') && token === ']') {
      stack.pop();
      want = after();
    } else if ((want === 'key or }' || want === ', or }') && token === '}') {
      stack.pop();
      want = after();
    } else if (want === ', or ]' && token === ',') want = 'value';
    else if (want === ', or }' && token === ',') want = 'key';
    else return fault();
    offset = TOKEN.lastIndex;
  }
  return want === 'the end' ? { fault: null, items } : fault();
}
