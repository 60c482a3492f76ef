import { createRequire } from 'node:module';
import type Parse from 'css-tree/parser';
import * as type from 'css-tree/tokenizer';
import { isSpace, skipSpace, type Tokens, textOf } from './css-tokens.ts';
import { isId, isPlainMedia, isPlainSelector } from './selector-plain.ts';

/** Whether what stands before a rule's `{` is something a browser takes, so that the rule is not lost. */

export const OPENING = new Map([
  [type.Function, type.RightParenthesis],
  [type.LeftParenthesis, type.RightParenthesis],
  [type.LeftSquareBracket, type.RightSquareBracket],
  [type.LeftCurlyBracket, type.RightCurlyBracket],
]);

/** Whether tokens `from` to `to` are a selector list; in a nested rule a combinator may lead. */
export function isSelectorList(tokens: Tokens, from: number, to: number, isNested: boolean): boolean {
  if (isPlainSelector(tokens, from, to)) return true;
  return (
    !isLoose(tokens, from, to) && parses(isNested ? absolute(tokens, from, to) : bare(tokens, from, to), 'selectorList')
  );
}

/** Whether tokens `from` to `to` are a list of media queries. None at all is one: it holds everywhere. */
export function isMediaQueryList(tokens: Tokens, from: number, to: number): boolean {
  if (isPlainMedia(tokens, from, to)) return true;
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

const require = createRequire(import.meta.url);
let parse: typeof Parse | undefined;

const parsed = new Map<string, boolean>();

/** Whether css-tree reads this without an error. Answers are kept: a sheet repeats its selectors, a shelf more so. */
function parses(text: string, context: 'selectorList' | 'mediaQueryList'): boolean {
  const key = `${context} ${text}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  // Loaded when something is not plain: the parser takes longer to start than a stylesheet to judge.
  parse ??= require('css-tree/parser') as typeof Parse;
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
