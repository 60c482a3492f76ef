/** The last exchange with the provider that failed, for the record. It holds no key and no image. */
export interface Failure {
  at: string;
  /** The provider's answer; null when there was none. */
  status: number | null;
  message: string;
  /** How long the request was, with its images. */
  requestBytes: number;
  /** The request's JSON, images taken out, at most 256 KB of it. */
  request: string;
  /** The answer, at most 64 KB of it. */
  response: string;
}

export const MOST_REQUEST = 256 * 1024;
export const MOST_RESPONSE = 64 * 1024;

const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+;base64,/;

/** A request's JSON without its images: each data URL is replaced by its type and length. */
export function withoutImages(body: Buffer): string {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return body.toString('utf8').replace(/data:[\w.+-]+\/[\w.+-]+;base64,[A-Za-z0-9+/=_-]*/g, '[image taken out]');
  }
  return JSON.stringify(value, (_key, item: unknown) => {
    const found = typeof item === 'string' && DATA_URL.exec(item);
    return found ? `[${found[0].slice(5, -8)} of ${item.length} characters taken out]` : item;
  });
}

/** What an image costs in tokens, about: what providers charge for one of 1568 px on its long side (2500 at most). */
const IMAGE_TOKENS = 1600;

/** Input tokens of a request, guessed: four characters a token, and each image as many as a large one takes. */
export function estimateInput(body: Buffer): number {
  const text = withoutImages(body);
  const images = text.match(/ of \d+ characters taken out\]|\[image taken out\]/g)?.length ?? 0;
  return Math.ceil(text.length / 4) + images * IMAGE_TOKENS;
}
