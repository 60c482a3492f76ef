import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { contentOf, openFile, writable } from './paths.ts';
import { asToolFailure, lineNumber, ToolFailure, tool, words } from './tool.ts';

/** The lines of a text with `content` put before line `start`, or in the place of `start` to `end`. */
function edited(text: string, content: string, start: number, end: number | undefined): string {
  const lines = text.split('\n');
  // Past the end means at the end, so that a long file can be written in parts.
  const first = Math.min(Math.max(1, start), lines.length + 1);
  const last = end === undefined || end < first ? first - 1 : Math.min(end, lines.length);
  return [...lines.slice(0, first - 1), ...content.split('\n'), ...lines.slice(last)].join('\n');
}

/** Writes a file whole, inserts lines, or replaces a range of them. Only in the checkout and the temporary folder. */
export const write = tool({
  name: 'write',
  description:
    'Write a file. Without line numbers the content becomes the whole file, and missing folders are made. With ' +
    'startLine it is inserted before that line (past the end: appended); with endLine too it replaces that range.',
  shape: z.object({
    path: words('File to write, inside the checkout or the folder for temporary files'),
    content: z.string().describe('What to write'),
    startLine: lineNumber('Line to insert before, or the first to replace, counted from 1').nullish(),
    endLine: lineNumber('Last line to replace, inclusive').nullish(),
  }),
  async run({ path, content, startLine, endLine }, context) {
    const whole = startLine === undefined || startLine === null;
    if (whole && typeof endLine === 'number')
      throw new ToolFailure('endLine needs startLine: which lines are replaced?');
    try {
      const place = await writable(path, context);
      const text = whole
        ? content
        : edited((await contentOf(place, path)).toString('utf8'), content, startLine, endLine ?? undefined);
      await mkdir(dirname(place), { recursive: true });
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
      const handle = await openFile(place, flags, path);
      try {
        await handle.truncate(0);
        await handle.writeFile(text);
      } finally {
        await handle.close();
      }
      return whole ? `wrote ${Buffer.byteLength(content)} bytes to ${path}` : `updated ${path}`;
    } catch (error) {
      throw asToolFailure(error, path);
    }
  },
});
