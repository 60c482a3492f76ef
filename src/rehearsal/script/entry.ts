import { type Entry, KEY_ORDER } from '../../catalogue/entry.ts';
import type { Piece } from '../repertoire.ts';
import { appended } from './progress.ts';

/** The entry of a piece, made on a day, its keys in the catalogue's order. */
export function entryOf(piece: Piece, created: string): Entry {
  const whole = { ...piece.entry, created };
  return Object.fromEntries(KEY_ORDER.map((key) => [key, whole[key]])) as unknown as Entry;
}

/**
 * A command that appends the entry to the catalogue and leaves every byte before it as it was.
 * It is safe to run again: an entry that is there already is left alone.
 */
export function appendCommand(piece: Piece, created: string): string {
  const text = JSON.stringify(entryOf(piece, created), null, 2).replace(/^/gm, '  ');
  return `cat > "\${TMPDIR:-/tmp}/entry.txt" <<'END'
${text}
END
node -e "$(cat <<'END'
const fs = require('fs'), file = 'site/machines.json', entry = fs.readFileSync(process.argv[1], 'utf8').trimEnd();
const text = fs.readFileSync(file, 'utf8'), shelf = JSON.parse(text), slug = JSON.parse(entry).slug;
if (!shelf.some((machine) => machine.slug === slug)) {
  const before = text.slice(0, text.lastIndexOf(']')).trimEnd();
  fs.writeFileSync(file, before + (shelf.length ? ',' : '') + '\\n' + entry + '\\n]\\n');
}
JSON.parse(fs.readFileSync(file, 'utf8'));
console.log('${appended(piece)}');
END
)" "\${TMPDIR:-/tmp}/entry.txt"`;
}
