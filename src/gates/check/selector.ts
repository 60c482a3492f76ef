import parse from 'css-tree/parser';
import * as type from 'css-tree/tokenizer';
import { type Tokens, isSpace, nameOf, skipSpace, textOf } from './css-tokens.ts';

/** Whether what stands before a rule's `{` is something a browser takes, so that the rule is not lost. */

export const OPENING = new Map([
  [type.Function, type.RightParenthesis],
  [type.LeftParenthesis, type.RightParenthesis],
  [type.LeftSquareBracket, type.RightSquareBracket],
  [type.LeftCurlyBracket, type.RightCurlyBracket],
]);

/** Whether tokens `from` to `to` are a selector list; in a nested rule a combinator may lead. */
export function isSelectorList(tokens: Tokens, from: number, to: number, isNested: boolean): boolean {
  if (isPlain(tokens, from, to)) return true;
  return (
    !isLoose(tokens, from, to) && parses(isNested ? absolute(tokens, from, to) : bare(tokens, from, to), 'selectorList')
  );
}

/** Whether tokens `from` to `to` are a list of media queries. None at all is one: it holds everywhere. */
export function isMediaQueryList(tokens: Tokens, from: number, to: number): boolean {
  const query = bare(tokens, from, to);
  return query === '' || parses(query, 'mediaQueryList');
}

/** Whether tokens are keyframe selectors: from, to, a percentage, or a percentage of a named range. */
export function isKeyframeList(tokens: Tokens, from: number, to: number): boolean {
  const allowed = [type.Percentage, type.Ident, type.Comma, type.WhiteSpace, type.Comment];
  for (let at = from; at < to; at += 1) if (!allowed.includes(tokens.types[at] as number)) return false;
  return true;
}

/**
 * Whether a selector is of the plain kind nearly all are of: names, classes, ids, simple pseudo-classes, combinators. Those
 * need no tree to be known as right; what is not plain may be right as well and goes to css-tree.
 */
function isPlain(tokens: Tokens, from: number, to: number): boolean {
  const { types } = tokens;
  let isFresh = true;
  let hasPart = false;
  for (let at = from; at < to; at += 1) {
    const kind = types[at];
    if (isSpace(kind)) {
      isFresh = true;
      continue;
    }
    if (kind === type.Comma) {
      if (!hasPart) return false;
      hasPart = false;
      isFresh = true;
      continue;
    }
    if (kind === type.Ident) {
      if (!isFresh) return false;
    } else if (kind === type.Hash) {
      if (!isId(tokens, at)) return false;
    } else if (kind === type.Colon) {
      at = endOfPseudo(tokens, at);
      if (at === -1) return false;
    } else if (kind !== type.Delim) return false;
    else {
      const mark = textOf(tokens, at);
      if (mark === '.' && types[at + 1] === type.Ident) at += 1;
      else if (mark === '>' || mark === '+' || mark === '~') {
        // One that leads, or follows another, is for the careful look.
        if (!hasPart) return false;
        hasPart = false;
        isFresh = true;
        continue;
      } else if (mark !== '*' || !isFresh) return false;
    }
    hasPart = true;
    isFresh = false;
  }
  return hasPart;
}

/** The last token of `:name`, `::name` or `:name(2n)`; -1 for what is not so plain. */
function endOfPseudo(tokens: Tokens, colon: number): number {
  const { types } = tokens;
  const at = types[colon + 1] === type.Colon ? colon + 2 : colon + 1;
  if (types[at] === type.Ident) return at;
  if (types[at] !== type.Function || !nameOf(tokens, at).startsWith('nth-')) return -1;
  const isStep = types[at + 1] === type.Number || /^(?:\d+n|odd|even)$/i.test(textOf(tokens, at + 1));
  return isStep && types[at + 2] === type.RightParenthesis ? at + 2 : -1;
}

/** Whether a hash token may stand for an id: what begins with a digit may not. */
function isId(tokens: Tokens, at: number): boolean {
  return !/^#(?:-?\d|-?$)/.test(textOf(tokens, at));
}

/**
 * What css-tree reads over and browsers do not: a combinator or a comma with no selector after it (`a > > b`, `a,`), and an
 * id that begins with a digit.
 */
function isLoose(tokens: Tokens, from: number, to: number): boolean {
  let brackets = 0;
  for (let at = from; at < to; at += 1) {
    const kind = tokens.types[at];
    if (kind === type.LeftSquareBracket) brackets += 1;
    if (kind === type.RightSquareBracket) brackets -= 1;
    if (brackets > 0) continue;
    if (kind === type.Hash && !isId(tokens, at)) return true;
    const isComma = kind === type.Comma;
    if (!isComma && !isCombinator(tokens, at)) continue;
    const next = skipSpace(tokens, at + 1);
    if (next >= to || tokens.types[next] === type.Comma || (!isComma && isCombinator(tokens, next))) return true;
  }
  return false;
}

function isCombinator(tokens: Tokens, at: number): boolean {
  return tokens.types[at] === type.Delim && ['>', '+', '~'].includes(textOf(tokens, at));
}

/** The text of some tokens with a space for each comment and none at its ends. */
export function bare(tokens: Tokens, from: number, to: number): string {
  let out = '';
  for (let at = from; at < to; at += 1) out += tokens.types[at] === type.Comment ? ' ' : textOf(tokens, at);
  return out.trim();
}

/** A nested rule's selector with an & before each combinator that leads one: `> b, + c` as `& > b, & + c`. */
function absolute(tokens: Tokens, from: number, to: number): string {
  let out = '';
  let depth = 0;
  let leads = true;
  for (let at = from; at < to; at += 1) {
    const kind = tokens.types[at] as number;
    const raw = kind === type.Comment ? ' ' : textOf(tokens, at);
    if (leads && isCombinator(tokens, at)) out += '& ';
    if (!isSpace(kind)) leads = false;
    if (OPENING.has(kind)) depth += 1;
    else if (kind === type.RightParenthesis || kind === type.RightSquareBracket) depth -= 1;
    else if (kind === type.Comma && depth === 0) leads = true;
    out += raw;
  }
  return out.trim();
}

const parsed = new Map<string, boolean>();

/** Whether css-tree reads this without an error. Answers are kept: a sheet repeats its selectors, a shelf more so. */
function parses(text: string, context: 'selectorList' | 'mediaQueryList'): boolean {
  const key = `${context} ${text}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  let isRight = true;
  try {
    parse(text, {
      context,
      onParseError: () => {
        isRight = false;
      },
    });
  } catch {
    isRight = false;
  }
  if (parsed.size > 20_000) parsed.clear();
  parsed.set(key, isRight);
  return isRight;
}
