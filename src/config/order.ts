import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { FactoryError } from '../support/errors.ts';
import { invalid, problemsOf } from './problems.ts';
import { parseYaml } from './yaml.ts';

/** The standing order: what every shift is told to make. See docs/formats.md, The work order. */
export interface Order {
  title?: string;
  objective: string;
  acceptance: string[];
  constraints: string[];
}

const items = z.array(z.string()).optional();
const orderShape = z.strictObject({
  title: z.string().optional(),
  objective: z.string().refine((text) => text.trim() !== '', 'must not be blank'),
  acceptance: items,
  constraints: items,
});

const kept = (list: string[] | undefined) => (list ?? []).map((item) => item.trim()).filter((item) => item !== '');

/**
 * Reads an order's text. Strings are trimmed and blank items dropped.
 * @throws FactoryError `order/invalid`, naming every problem with its key and line.
 */
export function parseOrder(text: string, file = 'order'): Order {
  const { value, document, lines } = parseYaml(text, 'order/invalid', file);
  const parsed = orderShape.safeParse(value);
  if (!parsed.success) throw invalid('order/invalid', file, problemsOf(parsed.error, document, lines));
  const { title, objective, acceptance, constraints } = parsed.data;
  return {
    ...(title === undefined ? {} : { title: title.trim() }),
    objective: objective.trim(),
    acceptance: kept(acceptance),
    constraints: kept(constraints),
  };
}

/** Reads an order file. @throws FactoryError `order/invalid` when it is missing or breaks its shape. */
export async function readOrder(path: string): Promise<Order> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new FactoryError('order/invalid', {
      message: `the order ${path} cannot be read: ${error.message}`,
      mend: 'Put the standing order there, or name another with `order` in factory.yaml.',
      data: { file: path },
      cause: error,
    });
  });
  return parseOrder(text, path);
}

/** The task: the order as the agent reads it. Byte-identical to what zot renders, which finds a run to continue by it. */
export function renderTask(order: Order): string {
  let task = order.objective;
  if (order.acceptance.length > 0) {
    task += '\n\nAcceptance criteria - the objective is not met until every one of these holds:';
    task += order.acceptance.map((item, index) => `\n${index + 1}. ${item}`).join('');
  }
  if (order.constraints.length > 0) {
    task += '\n\nConstraints - these hold for the whole run:';
    task += order.constraints.map((item) => `\n- ${item}`).join('');
  }
  return task;
}
