import type { Conversation } from './conversation.ts';

/**
 * Words for a request that offers no tools: a summary of the conversation so far, for the one that takes its place.
 * It keeps what the script asks of a past that is gone; the state of the files is looked up anew.
 */
export function summarise(conversation: Conversation): string {
  const wrote = conversation.calls.filter((call) => call.name === 'write' && call.ok).map((call) => String(call.args.path));
  const ran = conversation.calls.filter((call) => call.name === 'shell' && call.ok).length;
  const viewed = conversation.calls.filter((call) => call.name === 'view').map((call) => String(call.args.path));
  const planned = conversation.calls.some((call) => call.name === 'plan' && call.ok);
  return [
    'Where the shift stands.',
    planned ? 'The shelf was seen and ten candidates judged; the plan is made and followed.' : 'The shelf is being read.',
    `Written: ${[...new Set(wrote)].join(', ') || 'nothing yet'}.`,
    `Commands run: ${ran}. Pictures looked at: ${[...new Set(viewed)].join(', ') || 'none yet'}.`,
    'Next: take stock of the checkout, then the first step of the order that is not done.',
    conversation.said.trim() ? `In my own words so far:\n${conversation.said.trim().slice(-4000)}` : '',
    ...conversation.checkpoints,
  ]
    .filter(Boolean)
    .join('\n');
}
