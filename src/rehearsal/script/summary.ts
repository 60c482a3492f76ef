import { type Piece, pieces } from '../repertoire.ts';
import type { Conversation } from './conversation.ts';
import { openingOf } from './script.ts';

/**
 * Words for a request that offers no tools: a summary of the conversation, for the one that takes its place.
 * The conversation may come as messages or, written out, in the one message that asks. What the script needs of a past
 * that is gone (the plan, the brief) is kept word for word; the state of the files is looked up anew anyway.
 */
export async function summarise(conversation: Conversation): Promise<string> {
  const told = [conversation.said, ...conversation.checkpoints, ...conversation.prompts.map(({ text }) => text)].join(
    '\n',
  );
  const piece = (await pieces()).find(({ voice }) => told.includes(openingOf(voice.choice)));
  return [
    'Where the shift stands.',
    ...(piece ? pastOf(piece, told) : ['The shelf was being read; nothing is decided yet.']),
  ]
    .concat('Next: take stock of the checkout, then the first step of the order that is not done.')
    .join('\n\n');
}

function pastOf({ entry, voice }: Piece, told: string): string[] {
  const past = [
    `Ten candidates were judged against the shelf and the plan is made. The machine is ${entry.name} (${entry.slug}).`,
    voice.choice,
  ];
  return told.includes(openingOf(voice.brief)) ? [...past, voice.brief] : past;
}
