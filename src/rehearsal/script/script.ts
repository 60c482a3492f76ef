import { MACHINE_FILES } from '../../catalogue/entry.ts';
import { type Piece, nextPiece, pieces, stages } from '../repertoire.ts';
import { tellCandidates } from './candidates.ts';
import type { Conversation } from './conversation.ts';
import { appendCommand } from './entry.ts';
import { mendTurn, hasLookedUp } from './mend.ts';
import { type Progress, checkCommand, folderOf, probeCommand, readProgress } from './progress.ts';
import { STOCK_COMMAND, type Stock, readStock } from './stock.ts';
import { type Turn, call, giveUp, orGiveUp, shell, tail, turn } from './turn.ts';
import { SHOTS } from './voice.ts';

/**
 * The whole shift as a list of steps, each of which is left out when the conversation and the checkout show that it is done.
 * Nothing is remembered between requests: a conversation that was cut, compacted or continued finds its own place again.
 */
export async function nextTurn(conversation: Conversation): Promise<Turn> {
  const since = continuedAt(conversation);
  const stock = readStock(conversation, since);
  if (!stock) return orGiveUp(takeStock(since), conversation);
  const piece = await currentPiece(conversation, stock);
  if (!piece)
    return giveUp('Every machine I can make is on the shelf, or its place is taken: there is nothing to add.');
  const progress = readProgress(conversation, stock, piece);
  const steps = [lookAtShelf, plan, brief, writeFiles, appendEntry, commission, look, mend, settle];
  for (const step of steps) {
    const next = step({ conversation, stock, piece, progress });
    if (next) return orGiveUp(next, conversation);
  }
  return giveUp('The script has no further step.');
}

interface Scene {
  conversation: Conversation;
  stock: Stock;
  piece: Piece;
  progress: Progress;
}

/** Index of the prompt from which this run counts: what was seen before it may no longer be so. */
function continuedAt({ prompts }: Conversation): number {
  return prompts.at(-1)?.at ?? -1;
}

function takeStock(since: number): Turn {
  const reasoning =
    since <= 1
      ? 'First the shelf as it stands and what day it is. If somebody began a machine here before me, that shows too.'
      : 'This continues earlier work. I do not trust my memory of the checkout; I look at what is really there.';
  return turn(
    { reasoning },
    shell(STOCK_COMMAND),
    call('read', { path: 'site/machines.json', startLine: 1, endLine: 400 }),
  );
}

async function currentPiece(conversation: Conversation, stock: Stock): Promise<Piece | null> {
  const all = await pieces();
  const begun = all.find((piece) => {
    const folder = folderOf(piece);
    const wrote = conversation.calls.some((one) => one.name === 'write' && String(one.args.path).startsWith(folder));
    return wrote || stock.changed.some((path) => path.startsWith(folder));
  });
  return begun ?? nextPiece(stock.shelf);
}

const isBegun = ({ progress }: Scene) => MACHINE_FILES.some((file) => progress.disk[file] !== null);

const SHOTS_ONLY = '--shots-only';

function lookAtShelf(scene: Scene): Turn | null {
  const { conversation, stock } = scene;
  const newest = stock.shelf.slice(-3).map((entry) => entry.slug);
  if (newest.length === 0 || isBegun(scene) || hasPlan(conversation)) return null;
  const command = `node scripts/probe.js ${newest.join(' ')} ${SHOTS_ONLY}; echo "probe exit $?"; ls "\${TMPDIR:-/tmp}"/machinery/*-desktop.png`;
  const shot = conversation.calls.find((one) => one.name === 'shell' && one.args.command === command && one.ok);
  if (!shot) {
    const reasoning =
      'The catalogue says what the others are; it does not say what they look like. I want the newest ones on the table before I think of my own.';
    return turn({ reasoning }, shell(command));
  }
  const paths = shot.result
    .split(/[\s"'`]+/)
    .filter((word) => newest.some((slug) => word.endsWith(`/${slug}-desktop.png`)));
  const wanted = [...new Set(paths)].filter(
    (path) => !conversation.calls.some((one) => one.name === 'view' && one.args.path === path),
  );
  if (wanted.length === 0) return null;
  const reasoning = 'Material, silhouette, where the eye lands first: that is what I must not repeat.';
  return turn({ reasoning }, ...wanted.map((path) => call('view', { path })));
}

/** A harness may send a summary as a system message or as a user's: both can hold what was decided. */
const wasTold = ({ checkpoints, prompts }: Conversation, words: string) =>
  checkpoints.some((text) => text.includes(words)) || prompts.some(({ text }) => text.includes(words));

const hasPlan = (conversation: Conversation) =>
  conversation.calls.some((one) => one.name === 'plan' && one.ok) || wasTold(conversation, 'the plan is made');

function plan(scene: Scene): Turn | null {
  const { conversation, piece, stock } = scene;
  if (isBegun(scene) || hasPlan(conversation)) return null;
  const steps = [
    'Brief, before any markup',
    ...MACHINE_FILES.map((file) => `Write ${file}`),
    'Append the entry, then check and probe',
    'Look at the three pictures; change what they show to be wrong',
    'Check, probe and look again; settle',
  ];
  return turn(
    { reasoning: piece.voice.choice, text: tellCandidates(piece, stock.shelf) },
    call('plan', { steps, rationale: 'The look comes after the simulation works and before I am satisfied with it.' }),
  );
}

function brief(scene: Scene): Turn | null {
  const { conversation, piece } = scene;
  const opening = openingOf(piece.voice.brief);
  if (isBegun(scene) || conversation.said.includes(opening)) return null;
  if (wasTold(conversation, opening)) return null;
  return turn(
    {
      reasoning: 'The brief is what I will hold the pictures against later, so it has to be particular.',
      text: piece.voice.brief,
    },
    call('progress', { completed: ['Shelf seen', 'Candidates struck', 'Brief'], current: 'Writing the four files' }),
  );
}

/** Enough of a text to know it again wherever it was copied to: the beginning of its first long line. */
export const openingOf = (text: string) =>
  text
    .split('\n')
    .find((line) => line.length > 40)
    ?.slice(0, 80) ?? text;

/** The simulation first: what moves decides what the panel must show. */
const WRITING_ORDER = ['machine.js', 'index.html', 'machine.css', 'manual.html'] as const;

function writeFiles({ piece, progress }: Scene): Turn | null {
  const file = WRITING_ORDER.find((name) => typeof progress.disk[name] !== 'string');
  if (!file) return null;
  // Something that is no version of ours stands there: it is put right whole.
  const content = progress.disk[file] === null ? stages(piece, file)[0] : piece.files[file];
  return turn(
    { reasoning: piece.voice.files[file] },
    call('write', { path: `${folderOf(piece)}/${file}`, content: content ?? '' }),
  );
}

function appendEntry({ piece, progress, stock }: Scene): Turn | null {
  if (progress.listed) return null;
  return turn({ reasoning: piece.voice.entry }, shell(appendCommand(piece, stock.date)));
}

function commission({ piece, progress }: Scene): Turn | null {
  const { slug } = piece.entry;
  if (progress.probe?.exit === 2) return giveUp(`the probe cannot run here: ${tail(progress.probe.output)}`);
  if (progress.check?.exit === 2) return giveUp(`check cannot run here: ${tail(progress.check.output)}`);
  if (progress.check && progress.probe) return null;
  const reasoning = progress.left.length
    ? 'All four files are there and the catalogue knows of them. Now both gates, in the order a visitor would suffer from them.'
    : 'Changed. Both gates again, from the start: a mend that breaks something else is no mend.';
  return turn({ reasoning }, shell(checkCommand(slug)), shell(probeCommand(slug)));
}

function look({ piece, progress }: Scene): Turn | null {
  const shot = SHOTS.find((name) => progress.shots[name] && !progress.viewed.includes(name));
  if (!shot) return null;
  const before = SHOTS[SHOTS.indexOf(shot) - 1];
  const seen = progress.left.length ? piece.voice.first : piece.voice.final;
  const path = progress.shots[shot] as string;
  if (before) return turn({ reasoning: `Next the ${shot} picture.`, text: seen[before] }, call('view', { path }));
  const reasoning = progress.left.length
    ? `${tail(progress.probe?.output, 300)}\n\nBefore I mend that I want to see it. I wrote this blind.`
    : 'The gates can count pixels; whether it is any better I have to see.';
  return turn({ reasoning }, call('view', { path }));
}

function mend({ conversation, piece, progress }: Scene): Turn | null {
  if (progress.left.length === 0) return null;
  const looked = hasLookedUp(conversation, piece, progress);
  return mendTurn(piece, progress, looked);
}

function settle({ conversation, piece, progress }: Scene): Turn | null {
  const failed = [progress.check, progress.probe].find((gate) => gate?.exit !== 0);
  const returned = conversation.prompts.filter(({ text }) => /gates found|findings?\b/i.test(text)).length;
  if (!failed && returned < 2) {
    const line = {
      reasoning: 'Both gates pass, and the pictures show what the brief asked for.',
      text: piece.voice.final.manual,
    };
    return turn(line, call('success', { summary: piece.voice.summary }));
  }
  if (!failed)
    return giveUp('The gates of my own pass, and what came back twice is nothing I can see or mend from here.');
  // Once more from the start: a page that was slow this time may not be the next.
  const { slug } = piece.entry;
  const again = turn(
    { reasoning: 'A gate is not content with the finished machine. Once more, to see whether it says the same.' },
    shell(checkCommand(slug)),
    shell(probeCommand(slug)),
  );
  const next = orGiveUp(again, conversation);
  return next === again ? again : giveUp(`the finished machine does not pass: ${tail(failed.output)}`);
}
