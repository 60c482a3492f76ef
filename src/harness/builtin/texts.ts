/** What the built-in agent is told beside the task: in its instructions (never in the log) and as its first message. */

const RULES = `You are an autonomous engineer at work in a checkout of a repository. Nobody watches and nobody can answer: decide what is open, and go on. You act only through the tools; text is for your own order.

How to work
- Begin with plan; use progress when a step is done.
- Look before you change: read a file before you edit it, and a range again before you replace it, because line numbers move.
- Paths are relative to the checkout. Scratch files go below $TMPDIR.
- A failed call says why: mend it, do not repeat it.
- Judge what you made by running it and by looking at it, not by having written it.
- The run ends only when you call success or failure, alone and last. Call success when every part of the task holds and was checked.`;

/** The system prompt. @param contract the checkout's AGENTS.md, or null where there is none. */
export function instructionsOf(told: {
  task: string;
  contract: string | null;
  checkout: string;
  temp: string;
}): string {
  const contract = told.contract?.trim();
  return [
    RULES,
    `Where you are\n- Checkout: ${told.checkout}\n- Scratch ($TMPDIR): ${told.temp}`,
    ...(contract ? [`# From the repository's AGENTS.md\n\n${contract}`] : []),
    `# Your task\n\n${told.task}`,
  ].join('\n\n');
}

/** The first message of a fresh run. */
export const BEGIN =
  'Begin working on your task. Lay out your steps with plan first, then carry them through to the end.';

/** The message that continues an earlier run; with what the gates found when it is a rework. */
export function continueWith(findings?: string): string {
  const going =
    'Continue your task where the session left off. The checkout may have changed since: compare it with your ';
  const plain = `${going}plan first, then carry the task through to the end.`;
  if (!findings?.trim()) return plain;
  return (
    `${going}plan first.\n\nThe work was settled, but the gates found the following in it. Mend every error, run both gates ` +
    `and look at the screenshots again, then settle anew.\n\n${findings.trim()}`
  );
}
