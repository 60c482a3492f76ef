import { describe, expect, it } from 'vitest';
import { parseOrder, renderTask } from '../../src/config/order.ts';

describe('an order', () => {
  it('renders as objective, numbered acceptance and dashed constraints, without a final newline', () => {
    const order = parseOrder(
      'title: Never seen\nobjective: "  Build it.  "\nacceptance: ["first", "", "second\\nline"]\nconstraints:\n  - "  stay inside  "\n',
    );
    expect(renderTask(order)).toBe(
      'Build it.\n\n' +
        'Acceptance criteria - the objective is not met until every one of these holds:\n1. first\n2. second\nline\n\n' +
        'Constraints - these hold for the whole run:\n- stay inside',
    );
  });

  it('renders an objective alone as itself', () => {
    expect(renderTask(parseOrder('objective: Just this.'))).toBe('Just this.');
  });

  it.each([
    ['an unknown key, by name and line', 'objective: x\ngoals: []\n', /order:2: goals: is not a key/],
    ['a blank objective', 'objective: "  "\n', /order:1: objective: must not be blank/],
    ['a missing objective', 'title: x\n', /objective: /],
    ['a list item that is no text, by line', 'objective: x\nacceptance:\n  - a\n  - 7\n', /order:4: acceptance\.1: /],
    ['broken YAML, by line', 'objective: x\n  bad: [\n', /order:\d: /],
    ['a text that is no mapping', '- a\n', /order/],
  ])('refuses %s', (_, text, told) => {
    expect(() => parseOrder(text)).toThrow(
      expect.objectContaining({ code: 'order/invalid', message: expect.stringMatching(told) }),
    );
  });
});
