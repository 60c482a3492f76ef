import { z } from 'zod';
import { tool, words } from './tool.ts';

/** Tools that change nothing: what they record is the call itself, for the model's own order and for whoever watches. */

const items = (description: string) => z.array(z.string()).describe(description).nullish();

export const plan = tool({
  name: 'plan',
  description: 'Lay out the work in ordered steps: at the start, and again whenever the approach changes.',
  shape: z.object({
    steps: z.array(z.string()).min(1, 'needs at least one step').describe('The steps, in order'),
    rationale: z.string().describe('Why this way').nullish(),
  }),
  async run({ steps, rationale }) {
    return `plan recorded: ${steps.length} step(s)${rationale ? ` - ${rationale}` : ''}`;
  },
});

export const progress = tool({
  name: 'progress',
  description: 'Say where the work is: what is done, what you are at, what is in the way, what comes next.',
  shape: z.object({
    completed: items('Steps that are done'),
    current: z.string().describe('What you are doing now').nullish(),
    blockers: items('What is in the way'),
    nextSteps: items('What comes next'),
  }),
  async run({ current }) {
    return current ? `progress recorded: ${current}` : 'progress recorded';
  },
});

export const success = tool({
  name: 'success',
  description: 'The task is met in full. Ends the run; call it once, alone, when everything is done and checked.',
  shape: z.object({ summary: words('What was made, and what was done to be sure of it') }),
});

export const failure = tool({
  name: 'failure',
  description: 'The task cannot be met. Ends the run; call it when going on would not help.',
  shape: z.object({ reason: words('What stands in the way') }),
});
