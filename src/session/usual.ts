import { type Literals, WORTHWHILE } from './literals.ts';
import type { SessionActivity, SessionEvent, SessionLine } from './types.ts';

/** What a line says, and its long strings as they stand in it. */
export interface UsualLine {
  line: SessionLine;
  literals: Literals;
}

const [QUOTE, BRACE] = [34, 125];
const NO_LITERALS: Literals = {};

/** A short string that says the same with and without its quotes: nothing in it is escaped, and nothing ought to be. */
const PLAIN = '"([ !#-[\\]-\\uffff]*)"';
const startOf = (kind: string): string =>
  `^\\{(?:"kind":"${kind}","at":${PLAIN}|"at":${PLAIN},"kind":"${kind}"),"${kind}":\\{`;
const TEXT = new RegExp(`${startOf('message')}"type":${PLAIN},"text":(?=")`);
const PLAINLY = new RegExp(`^${PLAIN}$`);
const CALL = new RegExp(
  `${startOf('message')}"type":${PLAIN},"text":${PLAIN},"activity":\\{"kind":${PLAIN}(?:,"id":${PLAIN})?(?:,"name":${PLAIN})?,"(arguments|result|failure)":(?=")`,
);
const EVENT = new RegExp(
  `${startOf('event')}"kind":${PLAIN}(?:,"tool":${PLAIN})?(?:,"text":${PLAIN})?(?:,"iteration":(0|[1-9][0-9]{0,8}))?\\}\\}$`,
);

/** What a literal says that begins and ends with a quote; undefined when it is not one string. */
function stringOf(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

/** What a literal says that holds nothing escaped; undefined for any other. */
function plainOf(literal: string): string | undefined {
  return PLAINLY.exec(literal)?.[1];
}

/** @param read tells what a literal says. */
function ofText(json: string, read: (literal: string) => string | undefined): UsualLine | null {
  const start = TEXT.exec(json);
  if (start === null) return null;
  const literal = json.slice(start[0].length, -2);
  const text = read(literal);
  if (text === undefined) return null;
  const message = { type: start[3] as string, text };
  return { line: { at: (start[1] ?? start[2]) as string, kind: 'message', message }, literals: { text: literal } };
}

function ofCall(json: string): UsualLine | null {
  const start = CALL.exec(json);
  if (start === null) return null;
  const literal = json.slice(start[0].length, -3);
  const said = stringOf(literal);
  if (said === undefined) return null;
  const activity: SessionActivity = { kind: start[5] as string };
  if (start[6]) activity.id = start[6];
  if (start[7]) activity.name = start[7];
  const key = start[8] as 'arguments' | 'result' | 'failure';
  if (said !== '' || key === 'result') activity[key] = said;
  const message = { type: start[3] as string, text: start[4] as string, activity };
  return { line: { at: (start[1] ?? start[2]) as string, kind: 'message', message }, literals: { [key]: literal } };
}

function ofEvent(json: string): UsualLine | null {
  const all = EVENT.exec(json);
  if (all === null) return null;
  const event: SessionEvent = { kind: all[3] as string };
  if (all[4]) event.tool = all[4];
  if (all[5]) event.text = all[5];
  if (all[6]) event.iteration = Number(all[6]);
  return { line: { at: (all[1] ?? all[2]) as string, kind: 'event', event }, literals: NO_LITERALS };
}

/** How many braces a line ends in. */
function closing(json: string): number {
  let at = json.length - 1;
  while (json.charCodeAt(at) === BRACE) at -= 1;
  return json.length - 1 - at;
}

/**
 * Reads a line that is laid out as nearly all are: an event, or a message of one string that may be long and, before it,
 * short ones in a fixed order. Only that string is given to the parser, which so tells where it ends, too: reading the
 * whole line and then looking for its end again takes half as long again. A short line is read so only when its text
 * stands there as it would be written anew.
 * @returns what `asLine` makes of the line; null for any other line, whether or not it is JSON.
 */
export function usualLine(json: string): UsualLine | null {
  const [braces, short] = [closing(json), json.length < WORTHWHILE];
  if (json.charCodeAt(json.length - 1 - braces) !== QUOTE) return short && braces === 2 ? ofEvent(json) : null;
  if (braces === 2) return ofText(json, short ? plainOf : stringOf) ?? (short ? ofEvent(json) : null);
  return braces === 3 && !short ? ofCall(json) : null;
}
