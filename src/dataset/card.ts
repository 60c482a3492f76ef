import type { DatasetStore } from './store.ts';
import type { RowSummary } from './summary.ts';
import { tally, tallyByModel } from './tally.ts';

export interface CardOptions {
  /** The factory's origin, without credentials; taken from the newest row unless given. */
  repository?: string;
  /** The licence the machines are published under, as the hub spells it. */
  licence?: string;
  /** Whether normalised copies of the rows are shipped beside them. */
  normalised?: boolean;
}

function sizeCategory(rows: number): string {
  const steps: [number, string][] = [
    [1_000, 'n<1K'],
    [10_000, '1K<n<10K'],
    [100_000, '10K<n<100K'],
  ];
  return steps.find(([most]) => rows < most)?.[1] ?? '100K<n<1M';
}

/** The hub's header: what finds the dataset, and what its viewer opens. */
function header(rows: number, { licence = 'mit', normalised = false }: CardOptions): string {
  // The raw rows' `content` is a string or a list, which the viewer's loader refuses.
  const viewer = normalised
    ? ['configs:', '  - config_name: default', '    data_files: normalised/*/*.parquet']
    : ['viewer: false'];
  return [
    '---',
    `license: ${licence}`,
    'pretty_name: Machinery sessions',
    'task_categories: [text-generation, image-text-to-text]',
    'tags: [agent, trajectories, tool-use, code, design-critique, multimodal]',
    `size_categories: ['${sizeCategory(rows)}']`,
    ...viewer,
    '---',
  ].join('\n');
}

const inline = (text: string): string => text.replace(/[`|\r\n]/g, ' ');

function models(rows: RowSummary[]): string {
  const lines = tallyByModel(rows).map(({ provider, model, tally: sum }) => {
    const tokens = (sum.tokens.input + sum.tokens.output).toLocaleString('en');
    return `| \`${inline(provider)}\` | \`${inline(model)}\` | ${sum.rows} | ${sum.finished} | ${tokens} |`;
  });
  return ['| provider | model | rows | finished | tokens |', '|---|---|---|---|---|', ...lines].join('\n');
}

/** The dataset's README, made from what the store holds. */
export async function cardOf(store: DatasetStore, options: CardOptions = {}): Promise<string> {
  const rows = await store.list();
  const sum = tally(rows);
  const repository = options.repository ?? rows.findLast((row) => row.machinery)?.machinery?.repository ?? '';
  const [first, last] = [rows[0], rows.at(-1)];
  const span = first && last ? `, from ${first.started.slice(0, 10)} to ${last.ended.slice(0, 10)}` : '';
  return `${header(rows.length, options)}

# Machinery sessions

The conversations behind the machines of a software factory. At every tick of its clock the factory gives an autonomous
agent the same standing order: read the catalogue of what is on the shelf, look at the newest machines there, and design,
build, commission and hand in one more. A machine is a web page that is the working control panel of something that does
not exist, with a simulation behind it, faults to trigger and to recover from, and the operating manual bolted to it.

A row is one shift: everything the agent was told, thought, called and saw, from the order to the finished machine or to
where the shift was cut short, in the chat shape that training tools read, and what the factory knows of the result.

The order makes the model look. It takes screenshots of the panel it built, views them, judges them against its own brief
and against the shelf, and changes the design at least once because of what it saw. The pictures are in the rows, beside
the turn that looked and the turn that decided what to do about it: design critique with its evidence attached.

Rows are added by the factory itself, as shifts end. Nobody reviews them; they are the record as it was written.

## What is here

${sum.rows} rows${span}: ${sum.finished} finished machines, ${sum.partial} shifts without a result, ${sum.tips} tips of
their chains; ${sum.images} images, ${sum.looked.views} looks, ${sum.looked.afterChange} of them after a change.

${models(rows)}

## Layout

\`\`\`
trajectories/<session-id>/<session-id>.jsonl   one row, one line
trajectories/<session-id>/images/<sha256>.png  the screenshots the model was shown
${options.normalised ? 'normalised/<year-month>/<session-id>.parquet   the same row with one type per column, images inside\n' : ''}\`\`\`

## A row

| key | what it holds |
|---|---|
| \`id\` | the session's id, a UTC second |
| \`chain\` | the sessions behind this row, oldest first, ending in \`id\` |
| \`task\` | the standing order's text, as the agent was given it |
| \`model\`, \`provider\`, \`driver\` | what made the row |
| \`workdir\` | where the agent's tools worked |
| \`started\`, \`ended\` | RFC 3339, over the whole chain |
| \`outcome\` | how the last session ended: \`reason\` is \`settled\`, \`failed\`, \`aborted\`, \`time\`, \`error\`… |
| \`complete\`, \`truncated\` | whether there is an outcome; whether the log was cut mid-line |
| \`messages\` | the conversation as a resume would replay it |
| \`snapshots\` | earlier states that a compaction or a resume superseded, oldest first |
| \`images\` | the row's pictures, in order of first appearance |
| \`events\` | how often what happened |
| \`machinery\` | what the factory knows of the result |

Messages follow OpenAI's chat convention with additions:

\`\`\`json
{"role": "user", "type": "user", "content": "Begin with the catalogue."}
{"role": "assistant", "type": "bot", "content": "", "reasoning": "…", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "view", "arguments": "{\\"path\\":\\"/tmp/machinery/tide-gate-desktop.png\\"}"}}]}
{"role": "tool", "type": "activity", "content": "…", "tool_call_id": "call_1", "name": "view"}
{"role": "user", "type": "attachment", "content": [{"type": "text", "text": "/tmp/machinery/tide-gate-desktop.png"}, {"type": "image", "image": "images/3f2a….png"}]}
{"role": "system", "type": "checkpoint", "content": "what a compaction kept of the conversation"}
\`\`\`

- \`type\` is the session's own word for the message: user, bot, activity, attachment, checkpoint, instructions.
- \`reasoning\` is the model's scratchpad for the turn, where the provider showed it.
- A call's \`arguments\` are the string the model sent, untouched.
- A \`view\` is answered by an attachment with the image the model saw; the assistant turn after it is its reaction.
- The system prompt is not recorded.

\`machinery\` holds \`repository\`, \`run\`, \`commit\` (of the landing), \`outcome\`, \`catalogue_check\` and \`probe\`
(\`success\`, \`failure\`, or empty when the gate did not run), \`committed\` (whether it landed), \`machine\` (the
catalogue entry), \`files\` (the machine's four files) and \`shift\` (times, findings by rule, versions, tokens, cost).

## Filtering

- **Finished machines**: \`complete and machinery.outcome == "settled" and machinery.catalogue_check == "success" and
  machinery.probe == "success"\`.
- **Tips**: a shift that was cut short has a row of its own, and the shift that continued it has the whole chain. Drop the
  rows whose \`id\` is in another row's \`chain\`.
- **Design critique**: every \`view\` call whose path ends in \`-desktop.png\`, \`-phone.png\` or \`-manual.png\`, and the
  assistant turn after it.
- **The shelf**: \`machinery.machine\` over the settled rows is the catalogue; no two share a kind, a place (domain and
  era), a design, an interaction or a colour story.

## Provenance

- Factory: ${repository || 'a private repository'}. The standing order is \`orders/new-machine.yaml\`, the contract the
  agent reads is \`AGENTS.md\`, the gates are \`scripts/check.sh\` and \`scripts/probe.js\`.
- Each row names the model, the provider and the harness's driver that made it.
- Before a row is shipped it is searched for the factory's own secrets and for known kinds of tokens. Where one was taken
  out the text reads \`[redacted:<rule>]\` and \`machinery.shift.redactions\` counts it.

The machines are a model's output and are published as they are, under the factory's licence (${options.licence ?? 'mit'}).
Check the terms of the model that a row names before you train on its reasoning.
`;
}
