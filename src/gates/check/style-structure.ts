import * as type from 'css-tree/tokenizer';
import { isSpace, nameOf, skipSpace, type Tokens, textOf } from './css-tokens.ts';
import { bare, isKeyframeList, isMediaQueryList, isSelectorList, OPENING } from './selector.ts';

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
        if (told !== null) tell(at, told);
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
    if (open.length > 0 && kind === OPENING.get(types[open.at(-1) as number] as number)) open.pop();
    else if (open.length > 0 && !OPENING.has(kind)) continue;
    else if (kind === type.LeftCurlyBracket && open.length === 0 && !takesBraces) return { at, unclosed: -1 };
    else if (OPENING.has(kind)) open.push(at);
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

/** What is wrong between a rule's beginning and its `{`, such that the rule is lost. */
function preludeFault(tokens: Tokens, from: number, to: number, frame: Frame): string | null {
  if (tokens.types[from] === type.AtKeyword) {
    const name = nameOf(tokens, from);
    if (STATEMENTS.has(name)) return `@${name} has no ; at its end, so it takes the next rule with it`;
    if (name !== 'media' || isMediaQueryList(tokens, from + 1, to)) return null;
    return `the media query of \`${short(bare(tokens, from, to))}\` does not parse, so all its rules are lost`;
  }
  if (frame.holds === 'raw') return null;
  if (from === to) return 'a { has no selector before it, so its rule is lost';
  if (frame.holds === 'keyframes') {
    if (isKeyframeList(tokens, from, to)) return null;
    return `\`${short(bare(tokens, from, to))}\` is no keyframe selector (from, to or a percentage), so the keyframe is lost`;
  }
  if (isSelectorList(tokens, from, to, frame.holds === 'style')) return null;
  return `\`${short(bare(tokens, from, to))}\` is not a selector, so its rule is lost`;
}

/** Strings, addresses and comments that do not end where they should. */
function lexicalFaults(tokens: Tokens): StyleFault[] {
  const { types, starts } = tokens;
  const faults: StyleFault[] = [];
  const isBad = types.includes(type.BadString) || types.includes(type.BadUrl);
  for (let at = 0; isBad && at < types.length; at += 1) {
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
  const raw = last < 0 ? '' : textOf(tokens, last);
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

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

function quoteToken(tokens: Tokens, at: number): string {
  return `\`${short(textOf(tokens, at))}\``;
}
