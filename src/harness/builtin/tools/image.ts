/** The longest side a model is shown: past it providers scale down themselves, or bill for what nobody sees. */
export const LONGEST_SIDE = 1568;

/** A decoded image past this many pixels is refused before it is decoded: 40 million are 160 MB of memory. */
const MOST_PIXELS = 40_000_000;

/** The largest encoded image that is sent: providers refuse more than 5 MB. */
const MOST_BYTES = 5 * 1024 * 1024;

/** The media type of an image a model can be shown, told by its first bytes; null for anything else. */
export function imageType(bytes: Buffer): string | null {
  const text = (from: number, to: number) => bytes.toString('latin1', from, to);
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg';
  if (text(0, 6) === 'GIF87a' || text(0, 6) === 'GIF89a') return 'image/gif';
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp';
  return null;
}

export interface FittedImage {
  bytes: Buffer;
  mediaType: string;
  width: number;
  height: number;
  /** Whether `bytes` are not the file's own. */
  scaled: boolean;
}

/**
 * Makes an image fit for a model: at most 1568 px on its longer side and 5 MB. One that fits already keeps its own bytes.
 * It is decoded whole either way: a broken image in the conversation would be refused by the provider at every turn after.
 * @throws Error when it is broken or would need too much memory.
 */
export async function fitted(bytes: Buffer, mediaType: string): Promise<FittedImage> {
  // Loaded late: most commands, and runs without a look, never need it.
  const { default: sharp } = await import('sharp');
  const options = { limitInputPixels: MOST_PIXELS, failOn: 'error', animated: false } as const;
  const open = () => sharp(bytes, options).timeout({ seconds: 20 });
  const { width, height } = await open().metadata();
  if (width * height > MOST_PIXELS) throw new Error(`it has ${width}x${height} pixels`);
  if (Math.max(width, height) <= LONGEST_SIDE && bytes.length <= MOST_BYTES) {
    await open().raw().toBuffer();
    return { bytes, mediaType, width, height, scaled: false };
  }
  const small = open().resize({ width: LONGEST_SIDE, height: LONGEST_SIDE, fit: 'inside', withoutEnlargement: true });
  const png = await small.clone().png().toBuffer({ resolveWithObject: true });
  if (png.data.length <= MOST_BYTES) return told(png, 'image/png');
  return told(await small.flatten().jpeg({ quality: 85 }).toBuffer({ resolveWithObject: true }), 'image/jpeg');
}

function told(made: { data: Buffer; info: { width: number; height: number } }, mediaType: string): FittedImage {
  return { bytes: made.data, mediaType, width: made.info.width, height: made.info.height, scaled: true };
}
