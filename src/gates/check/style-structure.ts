import parse from 'css-tree/parser';
import * as type from 'css-tree/tokenizer';
import { type Tokens, isSpace, nameOf, skipSpace, textOf } from './css-tokens.ts';

/**
 * Parse errors that make a browser drop rules, found as css-syntax-3 parses: blocks within blocks, nesting included.
 * A declaration that a browser drops alone is left alone: old hacks and new properties are written on purpose.
 */

export interface StyleFault {
  offset: number;
  message: string;
}

/** What a block holds: `raw` is matched for brackets only. */
type Frame = { holds: 'rules' | 'style' | 'keyframes' | 'raw'; opener: number };

const CONDITIONAL = new Set(['media', 'supports', 'layer', 'container', 'scope', 'starting-style', 'document']);
const STATEMENTS = new Set(['charset', 'import', 'namespace']);
const CLOSER = new Map([
  [type.Function, type.RightParenthesis],
  [type.LeftParenthesis, type.RightParenthesis],
  [type.LeftSquareBracket, type.RightSquareBracket],
  [type.LeftCurlyBracket, type.RightCurlyBracket],
]);

export function structureFaults(tokens: Tokens): StyleFault[] {
  const { types, starts, text } = tokens;
  const faults: StyleFault[] = lexicalFaults(tokens);
  const tell = (at: number, message: string) => faults.push({ offset: starts[at] ?? text.length, message });
  const frames: Frame[] = [{ holds: 'rules', opener: -1 }];
  let at = 0;
  while (at < types.length) {
    const frame = frames.at(-1) as Frame;
    const kind = types[at] as number;
    if (isSpace(kind) || kind === type.CDO || kind === type.CDC) at += 1;
    else if (kind === type.RightCurlyBracket) {
      if (frames.length > 1) frames.pop();
      else tell(at, 'a } closes nothing, so the rule after it is lost; remove it, or restore the { it belongs to');
      at += 1;
    } else if (kind === type.Semicolon && frames.length > 1) at += 1;
    else {
      const end = statementEnd(tokens, at, frame, frames.length === 1);
      if (end.unclosed !== -1) {
        tell(end.unclosed, `${quoteToken(tokens, end.unclosed)} is never closed, so every rule after it is lost`);
        return faults;
      }
      if (types[end.at] === type.LeftCurlyBracket) {
        const told = preludeFault(tokens, at, end.at, frame);
        if (told) tell(told.at, told.message);
        frames.push({ holds: blockOf(tokens, at, frame), opener: end.at });
        at = end.at + 1;
      } else if (end.at >= types.length && frames.length === 1) {
        if (kind !== type.AtKeyword || !isStatement(tokens, at)) {
          tell(at, `${quoteToken(tokens, at)} begins a rule that has no { … } block`);
        }
        at = end.at;
      } else at = types[end.at] === type.Semicolon ? end.at + 1 : end.at;
    }
  }
  // The blocks inside the first are open because it is.
  const [, open] = frames;
  if (open) {
    tell(open.opener, 'the { here is never closed, so the rules after it are taken into its block; add the missing }');
  }
  return faults;
}

/** Where the statement that begins at `from` ends: at its `;`, its `{`, before the `}` of its block, or at the end. */
function statementEnd(tokens: Tokens, from: number, frame: Frame, isTop: boolean): { at: number; unclosed: number } {
  const { types } = tokens;
  const isAtRule = types[from] === type.AtKeyword;
  const isCustomProperty =
    types[from] === type.Ident &&
    textOf(tokens, from).startsWith('--') &&
    types[skipSpace(tokens, from + 1)] === type.Colon;
  const takesBraces = !isTop && (isCustomProperty || frame.holds === 'raw') && !isAtRule;
  const open: number[] = [];
  for (let at = from; at < types.length; at += 1) {
    const kind = types[at] as number;
    if (open.length > 0 && kind === CLOSER.get(types[open.at(-1) as number] as number)) open.pop();
    else if (open.length > 0 && !CLOSER.has(kind)) continue;
    else if (kind === type.LeftCurlyBracket && open.length === 0 && !takesBraces) return { at, unclosed: -1 };
    else if (CLOSER.has(kind)) open.push(at);
    else if (kind === type.Semicolon && (!isTop || isAtRule)) return { at, unclosed: -1 };
    else if (kind === type.RightCurlyBracket) return { at, unclosed: -1 };
  }
  return { at: types.length, unclosed: open[0] ?? -1 };
}

function isStatement(tokens: Tokens, at: number): boolean {
  const name = nameOf(tokens, at);
  return STATEMENTS.has(name) || name === 'layer';
}

function blockOf(tokens: Tokens, from: number, frame: Frame): Frame['holds'] {
  if (frame.holds === 'keyframes' || frame.holds === 'raw') return 'raw';
  if (tokens.types[from] !== type.AtKeyword) return 'style';
  const name = nameOf(tokens, from).replace(/^-\w+-/, '');
  if (CONDITIONAL.has(name)) return frame.holds;
  return name === 'keyframes' ? 'keyframes' : 'raw';
}

/** What is wrong between a rule's beginning and its `{`. */
function preludeFault(tokens: Tokens, from: number, to: number, frame: Frame): { at: number; message: string } | null {
  const { types, starts, text } = tokens;
  const prelude = text.slice(starts[from], starts[to]).trim();
  if (types[from] === type.AtKeyword) {
    const name = nameOf(tokens, from);
    if (STATEMENTS.has(name)) {
      return { at: from, message: `@${name} has no ; at its end, so it takes the next rule with it` };
    }
    const query = bare(tokens, from + 1, to);
    if (name === 'media' && query !== '' && !parses(query, 'mediaQueryList')) {
      return {
        at: from,
        message: `the media query of \`${short(prelude)}\` does not parse, so all its rules are lost`,
      };
    }
    return null;
  }
  if (frame.holds === 'raw') return null;
  if (frame.holds === 'keyframes') {
    const allowed = [type.Percentage, type.Ident, type.Comma, type.WhiteSpace, type.Comment];
    const bad = range(from, to).find((at) => !allowed.includes(types[at] as number));
    return bad === undefined
      ? null
      : {
          at: bad,
          message: `\`${short(prelude)}\` is no keyframe selector (from, to or a percentage), so the keyframe is lost`,
        };
  }
  const selector = frame.holds === 'style' ? absolute(tokens, from, to) : bare(tokens, from, to);
  const badHash = range(from, to).find(
    (at) => types[at] === type.Hash && /^#(?:\d|-\d|-?$)/.test(textOf(tokens, at)) && !isInBrackets(tokens, from, at),
  );
  const isRight = badHash === undefined && !hasLooseCombinator(tokens, from, to) && parses(selector, 'selectorList');
  if (prelude !== '' && isRight) return null;
  const what = prelude === '' ? 'a { has no selector before it' : `\`${short(prelude)}\` is not a selector`;
  return { at: from, message: `${what}, so its rule is lost` };
}

/** The text of some tokens with a space for each comment and none at its ends. */
function bare(tokens: Tokens, from: number, to: number): string {
  return range(from, to)
    .map((at) => (tokens.types[at] === type.Comment ? ' ' : textOf(tokens, at)))
    .join('')
    .trim();
}

/** Whether a combinator or a comma has no selector after it: `a > > b`, `a + , b`, `a,`. css-tree reads over these; browsers do not. */
function hasLooseCombinator(tokens: Tokens, from: number, to: number): boolean {
  let depth = 0;
  for (const at of range(from, to)) {
    const kind = tokens.types[at];
    if (kind === type.LeftSquareBracket) depth += 1;
    if (kind === type.RightSquareBracket) depth -= 1;
    const isComma = kind === type.Comma;
    if (depth > 0 || (!isComma && !isCombinator(tokens, at))) continue;
    const next = skipSpace(tokens, at + 1);
    if (next >= to || tokens.types[next] === type.Comma || (!isComma && isCombinator(tokens, next))) return true;
  }
  return false;
}

function isCombinator(tokens: Tokens, at: number): boolean {
  return tokens.types[at] === type.Delim && ['>', '+', '~'].includes(textOf(tokens, at));
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
    if (CLOSER.has(kind)) depth += 1;
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

/** Strings, addresses and comments that do not end where they should. */
function lexicalFaults(tokens: Tokens): StyleFault[] {
  const { types, starts, ends, text } = tokens;
  const faults: StyleFault[] = [];
  for (let at = 0; at < types.length; at += 1) {
    const kind = types[at];
    if (kind === type.BadString) {
      faults.push({ offset: starts[at] as number, message: 'a string is not closed before the end of its line' });
    } else if (kind === type.BadUrl) {
      faults.push({
        offset: starts[at] as number,
        message: 'a url() is written wrongly; put quotes around the address',
      });
    }
  }
  const last = types.length - 1;
  const raw = last < 0 || ends[last] !== text.length ? '' : textOf(tokens, last);
  const isOpen =
    (types[last] === type.Comment && (raw.length < 4 || !raw.endsWith('*/'))) ||
    (types[last] === type.String && !isClosedString(raw)) ||
    (types[last] === type.Url && !raw.endsWith(')'));
  if (raw !== '' && isOpen) {
    faults.push({
      offset: starts[last] as number,
      message: `\`${short(raw)}\` is never closed, so all after it is lost`,
    });
  }
  return faults;
}

function isClosedString(raw: string): boolean {
  if (raw.length < 2 || raw.at(-1) !== raw[0]) return false;
  let slashes = 0;
  while (raw.at(-2 - slashes) === '\\') slashes += 1;
  return slashes % 2 === 0;
}

function isInBrackets(tokens: Tokens, from: number, at: number): boolean {
  let depth = 0;
  for (const n of range(from, at)) {
    if (tokens.types[n] === type.LeftSquareBracket) depth += 1;
    if (tokens.types[n] === type.RightSquareBracket) depth -= 1;
  }
  return depth > 0;
}

function range(from: number, to: number): number[] {
  const numbers: number[] = [];
  for (let at = from; at < to; at += 1) numbers.push(at);
  return numbers;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

function quoteToken(tokens: Tokens, at: number): string {
  return `\`${short(textOf(tokens, at))}\``;
}
