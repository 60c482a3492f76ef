import { MACHINE_FILES, type MachineFile } from '../../catalogue/entry.ts';
import { type Piece, stages } from '../repertoire.ts';
import type { Call, Conversation } from './conversation.ts';
import { type Stock, sha1 } from './stock.ts';
import { SHOTS, type Shot } from './voice.ts';

/** How far one piece has come: what is on disk, what the gates said of it, which pictures of it were looked at. */
export interface Progress {
  /** The text of each file as it is now; null when it is not there, undefined when it is nothing that we wrote. */
  disk: Record<MachineFile, string | null | undefined>;
  /** The changes that are not made yet. */
  left: Piece['changes'];
  listed: boolean;
  /** The last run of each gate since the machine last changed. */
  check: Gate | null;
  probe: Gate | null;
  /** Pictures that were looked at since the machine last changed. */
  viewed: Shot[];
  /** Where the pictures are, as the probe's own output tells. */
  shots: Partial<Record<Shot, string>>;
}

export interface Gate {
  exit: number | null;
  output: string;
}

export const folderOf = (piece: Piece) => `site/machines/${piece.entry.slug}`;
export const checkCommand = (slug: string) => `bash scripts/check.sh ${slug}; echo "check exit $?"`;
export const probeCommand = (slug: string) =>
  `node scripts/probe.js ${slug}; echo "probe exit $?"; ls "\${TMPDIR:-/tmp}"/machinery/${slug}-*.png`;

/** Reads the progress of a piece from the stock that was taken and everything done since. */
export function readProgress(conversation: Conversation, stock: Stock, piece: Piece): Progress {
  const folder = folderOf(piece);
  const disk = diskThen(stock, piece);
  let listed = stock.shelf.some((entry) => entry.slug === piece.entry.slug);
  let changedAt = stock.at;
  for (const call of conversation.calls.filter((one) => one.at > stock.at && one.ok)) {
    const file = MACHINE_FILES.find((name) => call.args.path === `${folder}/${name}`);
    if (call.name === 'write' && file) {
      disk[file] = afterWrite(disk[file], call);
      changedAt = call.at;
    }
    if (call.name === 'shell' && call.result.includes(appended(piece))) {
      listed = true;
      changedAt = call.at;
    }
  }
  const since = conversation.calls.filter((call) => call.at > changedAt);
  const probe = gate(since, probeCommand(piece.entry.slug), 'probe exit');
  return {
    disk,
    left: piece.changes.filter(({ file, final }) => !(disk[file] ?? '').includes(final)),
    listed,
    check: gate(since, checkCommand(piece.entry.slug), 'check exit'),
    probe,
    viewed: SHOTS.filter((shot) => since.some((call) => call.name === 'view' && isShot(call.args.path, piece, shot))),
    shots: Object.fromEntries(
      SHOTS.flatMap((shot) => {
        const path = probe?.output.split(/[\s"'`]+/).findLast((word) => isShot(word, piece, shot));
        return path ? [[shot, path]] : [];
      }),
    ),
  };
}

/** What the shell says when the entry was appended, or was there already. */
export const appended = (piece: Piece) => `${piece.entry.slug} is in the catalogue`;

function diskThen(stock: Stock, piece: Piece): Progress['disk'] {
  const hashes = stock.folders[piece.entry.slug] ?? {};
  const texts = MACHINE_FILES.map((file) => {
    const hash = hashes[file];
    if (hash === undefined) return [file, null];
    return [file, stages(piece, file).find((text) => sha1(text) === hash)];
  });
  return Object.fromEntries(texts) as Progress['disk'];
}

function afterWrite(text: string | null | undefined, { args }: Call): string | undefined {
  const content = String(args.content ?? '');
  if (typeof args.startLine !== 'number') return content;
  if (typeof text !== 'string' || typeof args.endLine !== 'number') return undefined;
  const lines = text.split('\n');
  return [...lines.slice(0, args.startLine - 1), ...content.split('\n'), ...lines.slice(args.endLine)].join('\n');
}

function gate(calls: Call[], command: string, marker: string): Gate | null {
  const call = calls.findLast((one) => one.name === 'shell' && one.args.command === command && one.ok);
  if (!call) return null;
  const exit = new RegExp(`${marker} (\\d+)`).exec(call.result)?.[1];
  return { exit: exit === undefined ? null : Number(exit), output: call.result };
}

function isShot(path: unknown, piece: Piece, shot: Shot): boolean {
  return typeof path === 'string' && path.endsWith(`/${piece.entry.slug}-${shot}.png`);
}
