import type { Change, Piece } from '../repertoire.ts';
import type { Conversation } from './conversation.ts';
import { type Progress, folderOf } from './progress.ts';
import { type Turn, call, shell, turn } from './turn.ts';

/** The command that finds the places to change, with their line numbers. */
function lookUpCommand(piece: Piece, changes: Change[]): string {
  const files = [...new Set(changes.map(({ file }) => file))];
  const parts = files.map((file) => {
    const lines = changes.filter((change) => change.file === file).map(({ first }) => anchor(first));
    const patterns = lines.map((line) => `-e ${quoted(line)}`).join(' ');
    return `grep -nF ${patterns} ${folderOf(piece)}/${file} | cut -c1-160`;
  });
  return parts.join('; ');
}

/** The first line of a text that says something: what one would search for. */
const anchor = (text: string) => (text.split('\n').find((line) => line.trim().length > 3) ?? text).trim().slice(0, 60);
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function hasLookedUp(conversation: Conversation, piece: Piece, progress: Progress): boolean {
  const command = lookUpCommand(piece, progress.left);
  return conversation.calls.some((one) => one.name === 'shell' && one.args.command === command && one.ok);
}

/** What the pictures showed is said and looked up; then all that is left to change is changed, last lines first. */
export function mendTurn(piece: Piece, progress: Progress, looked: boolean): Turn {
  if (!looked) {
    const reasoning = 'Where those rules stand, so that I replace lines and not the file.';
    return turn({ reasoning, text: piece.voice.first.manual }, shell(lookUpCommand(piece, progress.left)));
  }
  const edits = progress.left.map((change) => edit(piece, progress, change));
  edits.sort((a, b) => b.startLine - a.startLine);
  return turn(piece.voice.mend, ...edits.map((args) => call('write', { ...args })));
}

/** The range of lines a change covers in the file as it is now, and what they become. */
function edit(piece: Piece, progress: Progress, { file, first, final }: Change) {
  const text = progress.disk[file] ?? '';
  const at = text.indexOf(first);
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at + first.length);
  const to = end < 0 ? text.length : end;
  const startLine = text.slice(0, from).split('\n').length;
  const endLine = startLine + text.slice(from, to).split('\n').length - 1;
  const content = text.slice(from, at) + final + text.slice(at + first.length, to);
  return { path: `${folderOf(piece)}/${file}`, content, startLine, endLine };
}
