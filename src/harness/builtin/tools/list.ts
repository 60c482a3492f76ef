import { readdir } from 'node:fs/promises';
import { z } from 'zod';
import { headAndTail } from './bounded.ts';
import { located } from './paths.ts';
import { asToolFailure, tool, words } from './tool.ts';

/** A folder's entries by name, one a line; folders end in a slash. */
export const list = tool({
  name: 'list',
  description: 'List the entries of a folder, one a line; folders end in a slash.',
  shape: z.object({ path: words('Folder to list, relative to the checkout or absolute') }),
  async run({ path }, context) {
    const entries = await readdir(located(path, context), { withFileTypes: true }).catch((error) => {
      throw asToolFailure(error, path);
    });
    const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}\n`).sort();
    return names.length === 0 ? `[${path} is empty]` : headAndTail(names.join(''), context.maxOutput);
  },
});
