import { resolve } from 'node:path';
import { readOrder } from '../../config/order.ts';
import { type Examiner, ok } from '../examination.ts';

/** The standing order, which every shift starts from. */
export const order: Examiner = {
  name: 'order',
  async look({ config }) {
    const file = resolve(config.root, config.order);
    const { title } = await readOrder(file);
    return ok(`${file}${title ? `: ${title}` : ''}`);
  },
};
