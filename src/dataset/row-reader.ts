import { openRegular } from '../session/scan.ts';
import type { MachineryBlock } from '../trajectory/machinery.ts';
import type { ChatMessage, TrajectoryFacts } from '../trajectory/types.ts';
import { type Piece, Splitter, invalid } from './split.ts';
import { type RowSummary, summarise } from './summary.ts';

const CHUNK = 1024 * 1024;

/** A piece of a row, parsed: a key with its value, or one message of `messages` or of the snapshot with that number. */
export type RowPart =
  | { key: 'messages'; message: ChatMessage }
  | { key: 'snapshots'; snapshot: number; message: ChatMessage }
  | { key: string; value: unknown; message?: never };

/**
 * Streams a row's pieces as JSON text, a batch a chunk read. Nothing larger than one message or one key's value is held.
 * @throws FactoryError `row/invalid` when the file is not exactly one JSON object on one line.
 */
export async function* readPieces(path: string): AsyncGenerator<Piece[]> {
  const file = await openRegular(path);
  const splitter = new Splitter();
  const chunk = Buffer.allocUnsafe(CHUNK);
  try {
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK, null);
      if (bytesRead === 0) break;
      yield splitter.feed(chunk.subarray(0, bytesRead));
    }
  } catch (error) {
    throw error instanceof SyntaxError ? invalid(error.message) : error;
  } finally {
    await file.close();
  }
  if (!splitter.done) throw invalid('it ends before its closing brace');
  if (splitter.trailing > 0) throw invalid('something follows its closing brace');
}

/** Parses a piece. @throws FactoryError `row/invalid`. */
export function partOf(piece: Piece): RowPart {
  let value: unknown;
  try {
    value = JSON.parse(piece.value.toString('utf8'));
  } catch (error) {
    throw invalid(`${piece.key}: ${(error as Error).message}`);
  }
  if (piece.empty) return { key: piece.key, value };
  if (piece.key === 'messages') return { key: 'messages', message: value as ChatMessage };
  if (piece.snapshot !== undefined)
    return { key: 'snapshots', snapshot: piece.snapshot, message: value as ChatMessage };
  return { key: piece.key, value };
}

/** Streams a row's parts, parsed, in the order of the file. @throws FactoryError `row/invalid`. */
export async function* readRow(path: string): AsyncGenerator<RowPart> {
  for await (const pieces of readPieces(path)) for (const piece of pieces) yield partOf(piece);
}

/** A row's keys beside its conversations, its superseded ones not even parsed. */
interface RowFrame {
  keys: Record<string, unknown>;
  counts: TrajectoryFacts['counts'];
  /** How often the final conversation views an image. */
  views: number;
  bytes: number;
}

async function readFrame(path: string): Promise<RowFrame> {
  const keys: Record<string, unknown> = {};
  const counts = { messages: 0, snapshots: 0, calls: 0, images: 0 };
  let [views, bytes] = [0, 0];
  for await (const pieces of readPieces(path)) {
    for (const piece of pieces) {
      if (piece.snapshot !== undefined) {
        counts.snapshots = piece.snapshot + 1;
        continue;
      }
      const part = partOf(piece);
      if (part.message === undefined) keys[part.key] = part.value;
      else {
        const calls = Array.isArray(part.message?.tool_calls) ? part.message.tool_calls : [];
        counts.messages += 1;
        counts.calls += calls.length;
        views += calls.filter((call) => call?.function?.name === 'view').length;
      }
    }
  }
  const file = await openRegular(path);
  bytes = (await file.stat()).size;
  await file.close();
  counts.images = Array.isArray(keys.images) ? keys.images.length : 0;
  return { keys, counts, views, bytes };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Sums up a row that is read from its file; slower than knowing it when it was made. @throws FactoryError `row/invalid`. */
export async function readSummary(path: string): Promise<RowSummary> {
  const { keys, counts, views, bytes } = await readFrame(path);
  const outcome = keys.outcome as TrajectoryFacts['result'] | undefined;
  const facts: TrajectoryFacts = {
    id: text(keys.id),
    chain: Array.isArray(keys.chain) ? keys.chain.map(text) : [],
    task: text(keys.task),
    model: text(keys.model),
    provider: text(keys.provider),
    driver: text(keys.driver),
    started: text(keys.started),
    ended: text(keys.ended),
    outcome: text(outcome?.reason),
    ...(outcome ? { result: outcome } : {}),
    complete: keys.complete === true,
    truncated: keys.truncated === true,
    images: Array.isArray(keys.images) ? keys.images.map(text) : [],
    events: {},
    counts,
    looked: { views, afterChange: 0 },
  };
  return summarise(facts, keys.machinery as MachineryBlock | undefined, bytes);
}
