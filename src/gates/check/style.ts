import { positionsIn } from '../../catalogue/json.ts';
import { addressesIn, tokensOf } from './css-tokens.ts';
import { folderOf, isElsewhere } from './reference.ts';
import { structureFaults } from './style-structure.ts';
import { quote, type Tell } from './tell.ts';

/** The rules for `machine.css`. */
export function judgeStyle(text: string, slug: string, tell: Tell): void {
  const file = 'machine.css';
  const tokens = tokensOf(text);
  const positionOf = positionsIn(text);
  for (const { offset, message } of structureFaults(tokens)) {
    const { line, column } = positionOf(offset);
    tell('style/syntax', `${message} (line ${line}, column ${column})`, { file, line });
  }
  const folder = folderOf(slug);
  for (const { address, offset } of addressesIn(tokens)) {
    if (!isElsewhere(address, folder)) continue;
    tell(
      'external/request',
      `the stylesheet loads ${quote(address)} from elsewhere; draw it in CSS or SVG, or put it in a data: address`,
      { file, line: positionOf(offset).line },
    );
  }
}
