import type { SessionActivity, SessionMessage } from '../../session/types.ts';
import type { Agent } from './loop.ts';
import { headAndTail } from './tools/bounded.ts';

/** The part of the context that is kept for the answer, at most. */
const ANSWER_PART = 0.25;
const MOST_ANSWER = 32_000;

/** The part of what is left at which the conversation is shortened: before the provider refuses it. */
const NEAR = 0.85;

/** The part of the conversation, by size, that is kept as it is. */
const KEPT = 0.25;

/** The part of the room that the older part must fill for the model to be asked about it. */
const LEAST = 0.1;

/** Characters of one message that the summary is made from, and that the structural one keeps. */
const SUMMARISED = 4000;
const CONDENSED = 200;

/** Tokens of a text, roughly: four characters each, which is near enough for English and code. */
const tokensOf = (characters: number) => Math.ceil(characters / 4);

/** Tokens a message costs, roughly; an image what providers charge for its pixels, at most for 1568 x 1568. */
function weight({ type, text, activity, images = [] }: SessionMessage): number {
  if (type === 'reasoning') return 0;
  const seen = images.map(({ width = 1568, height = 1568 }) => Math.ceil((width * height) / 750));
  return tokensOf((activity ? sentOf(activity) : text).length) + seen.reduce((sum, tokens) => sum + tokens, 8);
}

/** What of one half of a call is sent to the model. */
function sentOf({ kind, name, arguments: args, result, failure }: SessionActivity): string {
  if (kind === 'request') return `${name} ${args ?? ''}`;
  return failure ?? (typeof result === 'string' ? result : JSON.stringify(result ?? ''));
}

export const weightOf = (messages: readonly SessionMessage[]) => messages.reduce((sum, one) => sum + weight(one), 0);

/** How many tokens the conversation may have in a context of this size. */
export function roomIn(context: number): number {
  return Math.floor((context - Math.min(context * ANSWER_PART, MOST_ANSWER)) * NEAR);
}

/**
 * Divides a conversation: checkpoints stay as they are (a summary of a summary would lose what it holds), `old` is to be
 * summarised, `kept` goes on. A call and its result are never parted, nor an image from its round.
 */
export function divide(messages: readonly SessionMessage[]) {
  const pinned = messages.filter(({ type }) => type === 'checkpoint' || type === 'instructions');
  const body = messages.filter(({ type }) => type !== 'checkpoint' && type !== 'instructions');
  const most = weightOf(body) * KEPT;
  let cut = body.length;
  let size = 0;
  for (let at = body.length - 1; at >= 0; at -= 1) {
    size += weight(body[at] as SessionMessage);
    // The newest round is kept whatever it weighs: the model has not answered it yet.
    if (size > most && cut < body.length) break;
    if (startsRound(body, at)) cut = at;
  }
  return { pinned, old: body.slice(0, cut), kept: body.slice(cut) };
}

function startsRound(body: readonly SessionMessage[], at: number): boolean {
  const { type, activity } = body[at] as SessionMessage;
  if (type === 'attachment' || activity?.kind === 'response') return false;
  const before = body[at - 1];
  return !before || !(before.type === 'reasoning' || before.type === 'bot' || before.activity?.kind === 'request');
}

function show({ type, text, activity }: SessionMessage, most: number): string {
  const kind = !activity ? type : activity.kind === 'request' ? 'call' : activity.failure ? 'failure' : 'result';
  return `[${kind}] ${headAndTail(activity ? sentOf(activity) : text, most)}`;
}

/** What is left of the old part when no model can be asked: its lines, each cut short. */
export function structural(old: readonly SessionMessage[]): string {
  const lines = old
    .filter(({ type }) => type !== 'reasoning')
    .map((message) => `- ${show(message, CONDENSED).replaceAll('\n', ' ')}`);
  return `What happened so far, condensed:\n${headAndTail(lines.join('\n'), 60_000)}`;
}

const ASK =
  'Below is the older part of the record of an agent at work; the agent goes on from your summary without it. Write what ' +
  'it must know, as notes to itself: what was decided and why (the brief and the chosen design in full), which files were ' +
  'written and what is in them, what was tried and what came of it, what the gates and the screenshots showed, what is ' +
  'still to do, names, paths and numbers exactly. Leave out what no longer matters. Do not address anyone, and begin at ' +
  'once.';

async function summary(agent: Agent, old: readonly SessionMessage[]): Promise<string> {
  const record = headAndTail(old.map((one) => show(one, SUMMARISED)).join('\n'), agent.room * 3);
  const text = `${ASK}\n\n<record>\n${record}\n</record>`;
  const turn = await agent.model.ask([{ role: 'user', content: [{ type: 'text', text }] }], [], agent.signal);
  agent.spend(turn);
  if (turn.text.trim() === '') throw new Error('the summary is empty');
  return turn.text.trim();
}

/**
 * Shortens the conversation: its older part becomes a checkpoint, written by the model, or condensed line by line when
 * that fails (or `ask` is false). Images in that part are gone. @returns whether there was anything to shorten.
 */
export async function compact(agent: Agent, ask = true): Promise<boolean> {
  const { pinned, old, kept } = divide(agent.conversation.messages);
  // A summary of next to nothing would be asked for again every round, when it is the newest round that is large.
  if (old.length === 0 || (ask && weightOf(old) < agent.room * LEAST)) return false;
  let text: string;
  try {
    if (!ask) throw new Error('not asked');
    text = await summary(agent, old);
  } catch {
    agent.signal.throwIfAborted();
    text = structural(old);
  }
  await agent.event({ kind: 'compact', text: `${old.length} older messages became a checkpoint` });
  await agent.conversation.replace([...pinned, { type: 'checkpoint', text }, ...kept]);
  return true;
}
