import { z } from 'zod';
import { headAndTail } from './bounded.ts';
import { imageType } from './image.ts';
import { contentOf, located } from './paths.ts';
import { asToolFailure, lineNumber, tool, words } from './tool.ts';

/** Numbered lines of a text file, below a header that says how many there are. */
export const read = tool({
  name: 'read',
  description:
    'Show lines of a text file, each with its number, below a header that gives the number of lines in the file. ' +
    'Both line numbers are required: ask for the part you need.',
  shape: z.object({
    path: words('File to read, relative to the checkout or absolute'),
    startLine: lineNumber('First line, counted from 1'),
    endLine: lineNumber('Last line, inclusive'),
  }),
  async run({ path, startLine, endLine }, context) {
    const bytes = await contentOf(located(path, context), path).catch((error) => {
      throw asToolFailure(error, path);
    });
    const type = imageType(bytes);
    if (type) {
      const way = context.vision ? 'use view to see it' : 'this model cannot be shown images';
      return `[${path} is an image (${type}, ${bytes.length} bytes); ${way}]`;
    }
    if (bytes.subarray(0, 8192).includes(0)) return `[${path} is a binary file, ${bytes.length} bytes]`;
    const lines = bytes.toString('utf8').split('\n');
    const first = Math.max(1, startLine);
    const last = Math.min(endLine, lines.length);
    if (first > last) return `[${path} has ${lines.length} lines; none of them is in ${startLine}-${endLine}]`;
    const shown = lines.slice(first - 1, last).map((line, index) => `${first + index}\t${line}\n`);
    return headAndTail(`[${path} lines ${first}-${last} of ${lines.length}]\n${shown.join('')}`, context.maxOutput);
  },
});
