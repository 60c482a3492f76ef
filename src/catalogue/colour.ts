/** Red, green and blue, each 0 to 255 (sRGB). */
export type Colour = readonly [red: number, green: number, blue: number];

const HEX = /^#[0-9a-f]{6}$/i;

/** Reads `#rrggbb`, in either case. @returns null for anything else. */
export function parseColour(text: string): Colour | null {
  if (!HEX.test(text)) return null;
  const code = Number.parseInt(text.slice(1), 16);
  return [code >> 16, (code >> 8) & 255, code & 255];
}

/** The straight distance between two colours in sRGB: 0 for the same, 441.7 from black to white. */
export function distance(a: Colour, b: Colour): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
