import { z } from 'zod';
import { fitted, imageType, LONGEST_SIDE } from './image.ts';
import { contentOf, located } from './paths.ts';
import { asToolFailure, tool, ToolFailure, words } from './tool.ts';

/** Shows the model an image; it comes as a message of its own after the round's results. */
export const view = tool({
  name: 'view',
  description:
    'See an image file (PNG, JPEG, GIF, WebP), such as a screenshot of what you made. It is attached after the results ' +
    `of this turn, scaled to at most ${LONGEST_SIDE} pixels on its longer side.`,
  shape: z.object({
    path: words('Image to look at, relative to the checkout or absolute'),
    detail: z.enum(['auto', 'low', 'high']).describe('How closely to look').nullish(),
  }),
  async run({ path, detail }, context) {
    const bytes = await contentOf(located(path, context), path).catch((error) => {
      throw asToolFailure(error, path);
    });
    const type = imageType(bytes);
    if (!type) throw new ToolFailure(`${path} is not a PNG, JPEG, GIF or WebP image; use read for text`);
    const image = await fitted(bytes, type).catch((error: Error) => {
      throw new ToolFailure(`${path} cannot be shown: ${error.message.split('\n')[0]}`, { cause: error });
    });
    const scaled = image.scaled ? `; scaled down to fit ${LONGEST_SIDE} px` : '';
    return {
      text: `attached ${path} (${image.mediaType}, ${image.width}x${image.height})${scaled}`,
      image: { ...image, origin: path, ...(detail ? { detail } : {}) },
    };
  },
});
