import * as type from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';

/** A text cut into CSS tokens: for token n its type and where it starts. It ends where the next one starts. */
export interface Tokens {
  text: string;
  types: number[];
  starts: number[];
}

export function tokensOf(text: string): Tokens {
  const types: number[] = [];
  const starts: number[] = [];
  type.tokenize(text, (kind, start) => {
    types.push(kind);
    starts.push(start);
  });
  return { text, types, starts };
}

export function endOf(tokens: Tokens, at: number): number {
  return tokens.starts[at + 1] ?? tokens.text.length;
}

export function textOf(tokens: Tokens, at: number): string {
  return tokens.text.slice(tokens.starts[at], endOf(tokens, at));
}

/** The name of an ident, function or at-keyword token: unescaped, in lower case, without its mark. */
export function nameOf(tokens: Tokens, at: number): string {
  const isFunction = tokens.types[at] === type.Function;
  const isAtKeyword = tokens.types[at] === type.AtKeyword;
  const start = (tokens.starts[at] as number) + Number(isAtKeyword);
  const raw = tokens.text.slice(start, endOf(tokens, at) - Number(isFunction));
  return (raw.includes('\\') ? ident.decode(raw) : raw).toLowerCase();
}

export function isSpace(kind: number | undefined): boolean {
  return kind === type.WhiteSpace || kind === type.Comment;
}

/** The next token that is neither white space nor a comment. */
export function skipSpace(tokens: Tokens, from: number): number {
  let at = from;
  while (isSpace(tokens.types[at])) at += 1;
  return at;
}

/** Something a stylesheet would load, and where it says so. */
export interface CssAddress {
  address: string;
  offset: number;
}

const TAKES_STRING = new Set(['url', 'src']);
const TAKES_STRINGS = new Set(['image-set', '-webkit-image-set']);

/**
 * Every address that CSS loads: `url()`, `src()`, `@import`, and the strings of an `image-set()`.
 * A `@namespace` names its address and loads nothing.
 */
export function addressesIn(tokens: Tokens): CssAddress[] {
  const found: CssAddress[] = [];
  const open: string[] = [];
  let isNamespace = false;
  const { types, starts } = tokens;
  const add = (at: number, address: string) => {
    if (!isNamespace) found.push({ address, offset: starts[at] as number });
  };
  for (let at = 0; at < types.length; at += 1) {
    const kind = types[at];
    if (kind === type.Function) {
      const name = nameOf(tokens, at);
      open.push(name);
      const next = skipSpace(tokens, at + 1);
      if (TAKES_STRING.has(name) && types[next] === type.String) add(at, string.decode(textOf(tokens, next)));
      // css-tree does not know url( by its escapes, as in u\72l(; a browser does, and takes all up to the bracket.
      else if (name === 'url') add(at, url.decode(`url(${/^[^)]*/.exec(tokens.text.slice(endOf(tokens, at)))?.[0]})`));
    } else if (kind === type.LeftParenthesis) open.push('');
    else if (kind === type.RightParenthesis) open.pop();
    else if (kind === type.Url) add(at, url.decode(textOf(tokens, at)));
    else if (kind === type.String && TAKES_STRINGS.has(open.at(-1) ?? '')) add(at, string.decode(textOf(tokens, at)));
    else if (kind === type.AtKeyword) {
      const name = nameOf(tokens, at);
      isNamespace = name === 'namespace';
      const next = skipSpace(tokens, at + 1);
      if (name === 'import' && types[next] === type.String) add(at, string.decode(textOf(tokens, next)));
    } else if (kind === type.Semicolon || kind === type.LeftCurlyBracket) isNamespace = false;
  }
  return found;
}

/** The addresses in a piece of CSS, such as a style attribute. */
export function addressesOf(css: string): string[] {
  // Without a bracket, an at sign or an escape that could hide one there is nothing that loads.
  return /[(@\\]/.test(css) ? addressesIn(tokensOf(css)).map(({ address }) => address) : [];
}

/** Whether a piece of CSS holds only white space and comments. */
export function isBlankCss(css: string): boolean {
  return css.trim() === '' || tokensOf(css).types.every(isSpace);
}

/** Whether a style attribute declares this value, alone, for this property; the last declaration counts. */
export function declares(style: string, property: string, value: string): boolean {
  const tokens = tokensOf(style);
  let said: string[] = [];
  let found = false;
  const settle = () => {
    const [name, colon, is, mark] = said;
    if (name === property && colon === ':' && (said.length === 3 || mark === '!')) found = is === value;
    said = [];
  };
  for (let at = 0; at < tokens.types.length; at += 1) {
    const kind = tokens.types[at];
    if (kind === type.Semicolon) settle();
    else if (!isSpace(kind)) said.push(kind === type.Ident ? nameOf(tokens, at) : textOf(tokens, at));
  }
  settle();
  return found;
}
