import * as type from 'css-tree/tokenizer';
import { isSpace, nameOf, type Tokens, textOf } from './css-tokens.ts';

/** Selectors and media queries that are known as right at a glance: nearly all are, and the parser need not be loaded. */

/**
 * Whether a selector is of the plain kind nearly all are of: names, classes, ids, simple pseudo-classes, combinators. Those
 * need no tree to be known as right; what is not plain may be right as well and goes to css-tree.
 */
export function isPlainSelector(tokens: Tokens, from: number, to: number): boolean {
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
    } else if (kind === type.LeftSquareBracket) {
      at = endOfAttribute(tokens, at);
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

/** The last token of `[name]` or `[name="value"]`; -1 for what is not so plain. */
function endOfAttribute(tokens: Tokens, bracket: number): number {
  const { types } = tokens;
  if (types[bracket + 1] !== type.Ident) return -1;
  let at = bracket + 2;
  if (types[at] === type.RightSquareBracket) return at;
  if (types[at] === type.Delim && '~^$*|'.includes(textOf(tokens, at))) at += 1;
  if (types[at] !== type.Delim || textOf(tokens, at) !== '=') return -1;
  const isValue = types[at + 1] === type.String || types[at + 1] === type.Ident;
  return isValue && types[at + 2] === type.RightSquareBracket ? at + 2 : -1;
}

/** Whether a media query is of the plain kind: `screen and (max-width: 480px)`, any number of them. */
export function isPlainMedia(tokens: Tokens, from: number, to: number): boolean {
  const text = tokens.text.slice(tokens.starts[from], tokens.starts[to]);
  return PLAIN_MEDIA.test(text);
}

const FEATURE = String.raw`\(\s*[a-z-]+\s*:\s*(?:[\d.]+[a-z]*|[a-z][a-z-]*)\s*\)`;
const QUERY = String.raw`(?:(?:only\s+)?(?:screen|print|all)(?:\s+and\s+${FEATURE})*|${FEATURE}(?:\s+and\s+${FEATURE})*)`;
const PLAIN_MEDIA = new RegExp(`^\\s*${QUERY}(?:\\s*,\\s*${QUERY})*\\s*$`, 'i');

/** Whether a hash token may stand for an id: what begins with a digit may not. */
export function isId(tokens: Tokens, at: number): boolean {
  return !/^#(?:-?\d|-?$)/.test(textOf(tokens, at));
}
