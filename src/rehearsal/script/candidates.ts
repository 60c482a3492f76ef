import type { Piece, ShelfEntry } from '../repertoire.ts';
import type { Candidate } from './voice.ts';

/** The ten candidates as text, each kept or struck against the shelf as it really is. */
export function tellCandidates(piece: Piece, shelf: readonly ShelfEntry[]): string {
  const lines = piece.voice.candidates.map((candidate, n) => {
    const reason = strike(candidate, shelf);
    return `${n + 1}. ${candidate.idea} ${reason ? `STRUCK: ${reason}` : 'Kept.'}`;
  });
  return [tellShelf(shelf), '', ...lines, '', piece.voice.choice].join('\n');
}

/** Why a candidate is struck, or null. */
function strike({ like, domain, era, generic }: Candidate, shelf: readonly ShelfEntry[]): string | null {
  const place = shelf.find((entry) => entry.domain === domain && entry.era === era);
  if (place) return `${domain}, ${era} is taken by ${place.name ?? place.slug}.`;
  const words = (entry: ShelfEntry) => `${entry.slug} ${entry.name ?? ''} ${entry.kind ?? ''}`.toLowerCase();
  const twin = shelf.find((entry) => like.some((word) => words(entry).includes(word)));
  if (twin) return `too near ${twin.name ?? twin.slug} (${twin.kind ?? 'on the shelf'}).`;
  return generic ?? null;
}

function tellShelf(shelf: readonly ShelfEntry[]): string {
  if (shelf.length === 0) return 'The shelf is empty, so nothing is taken; what is generic is struck all the same.';
  const newest = shelf.slice(-3).map((entry) => `${entry.name ?? entry.slug} (${entry.domain}, ${entry.era})`);
  const count = shelf.length === 1 ? 'One machine stands' : `${shelf.length} machines stand`;
  return `${count} on the shelf. The newest: ${newest.join('; ')}. Ten candidates, judged against all of it:`;
}
