const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const;
const BYTES = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

function measure<Unit extends string>(text: string, units: Record<Unit, number>): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(text);
  const factor = match ? units[match[2] as Unit] : undefined;
  return match && factor !== undefined ? Number(match[1]) * factor : null;
}

/** Milliseconds of `90s`, `85m`, `1.5h`, `30d`, `500ms`; null when it is not a duration. */
export function durationMs(text: string): number | null {
  const seconds = measure(text, SECONDS);
  return seconds === null ? null : Math.round(seconds * 1000);
}

/** Bytes of `200MB`, `1GB`…, decimal units as disks are sold; null when it is not a size. */
export function bytes(text: string): number | null {
  return measure(text, BYTES);
}

/** `1 h 25 min`, `42.1 s`: a duration as a person reads it. */
export function told(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
