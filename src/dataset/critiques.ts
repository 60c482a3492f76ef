import type { ChatMessage } from '../trajectory/types.ts';
import { readRow } from './row-reader.ts';

/** One look at a machine's own screenshot, and what the model made of it. */
export interface Critique {
  row: string;
  /** Index of the message that calls `view`. */
  at: number;
  /** The path that was viewed. */
  path: string;
  /** Relative to the row's folder; absent when the image was lost. */
  image?: string;
  reasoning: string;
  said: string;
  /** The calls of the turn after the look, by name. */
  did: string[];
}

const SHOT = /-(?:desktop|phone|manual)\.png$/;

/** The path of a `view` call; undefined for any other call. */
function viewedPath(call: { function?: { name?: string; arguments?: string } }): string | undefined {
  if (call.function?.name !== 'view') return undefined;
  try {
    const path = (JSON.parse(call.function.arguments ?? '') as { path?: unknown } | null)?.path;
    return typeof path === 'string' ? path : undefined;
  } catch {
    return undefined;
  }
}

interface Look extends Critique {
  call: string;
  answered: boolean;
  pictured: boolean;
}

/**
 * The design-critique turns of a row's conversation: every `view` of a screenshot that the probe took, its image, and the
 * assistant's turn after it. All images of a round come in one attachment after its last call, in the order of the calls.
 */
export async function* critiquesOf(row: string, path: string): AsyncGenerator<Critique> {
  let looks: Look[] = [];
  let at = -1;
  for await (const part of readRow(path)) {
    // Messages come first; the snapshots repeat them.
    if (part.key === 'snapshots') break;
    if (part.key !== 'messages' || !part.message) continue;
    const { message } = part as { message: ChatMessage };
    at += 1;
    // A round's calls follow one another, each with its answer: a turn is the reaction once the images were shown.
    if (message.role === 'assistant' && looks.some(({ pictured }) => pictured)) {
      yield* looks
        .filter(({ pictured, path: seen }) => pictured && SHOT.test(seen))
        .map((look) => reaction(look, message));
      looks = [];
    }
    if (message.role === 'assistant') looks.push(...looksOf(row, at, message));
    if (message.role === 'tool') {
      const look = looks.find(({ call, answered }) => call === message.tool_call_id && !answered);
      if (look) look.answered = true;
    }
    if (message.type === 'attachment') picture(looks, message);
  }
}

function looksOf(row: string, at: number, message: ChatMessage): Look[] {
  return (message.tool_calls ?? []).flatMap((call) => {
    const path = viewedPath(call);
    if (path === undefined) return [];
    const state = { call: call.id, answered: false, pictured: false };
    return [{ row, at, path, reasoning: '', said: '', did: [], ...state }];
  });
}

/** Gives the looks of a round their images. One whose image is not named by the text keeps none when some are missing. */
function picture(looks: Look[], message: ChatMessage): void {
  const parts = Array.isArray(message.content) ? message.content : [];
  const images = parts.flatMap((part) => (part.type === 'image' ? [part.image] : []));
  const open = looks.filter(({ answered, pictured }) => answered && !pictured);
  for (const [index, look] of open.entries()) {
    look.pictured = true;
    const image = images.length === open.length ? images[index] : undefined;
    if (image !== undefined) look.image = image;
  }
}

function reaction({ row, at, path, image }: Look, turn: ChatMessage): Critique {
  return {
    ...{ row, at, path },
    ...(image === undefined ? {} : { image }),
    reasoning: turn.reasoning ?? '',
    said: typeof turn.content === 'string' ? turn.content : '',
    did: (turn.tool_calls ?? []).map(({ function: { name } }) => name),
  };
}
