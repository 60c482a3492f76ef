import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCatalogue, freePlaces, parseCatalogue } from '../../src/catalogue/catalogue.ts';
import { distance, parseColour } from '../../src/catalogue/colour.ts';
import type { Entry } from '../../src/catalogue/entry.ts';
import { outline, positionAt } from '../../src/catalogue/json.ts';
import { fold } from '../../src/catalogue/name.ts';
import { DEFAULT_VOCABULARY } from '../../src/catalogue/vocabulary.ts';
import { goodMachine } from '../helpers/machine.ts';

const { entry } = goodMachine();

describe('the catalogue', () => {
  it('is read as it was written, and written in the order of the keys', () => {
    const { slug, ...rest } = entry;
    const text = formatCatalogue([{ ...rest, slug } as Entry]);
    expect(parseCatalogue(text)).toEqual([entry]);
    expect(text).toBe(`${JSON.stringify([entry], null, 2)}\n`);
  });

  it('keeps keys it does not know, last', () => {
    const odd = { colour: 'blue', ...entry } as Entry;
    expect(Object.keys(parseCatalogue(formatCatalogue([odd]))[0] as Entry).at(-1)).toBe('colour');
  });

  it.each([
    ['[\n  {"a": 1,}\n]', 2, 11],
    ['[{"a": 01}]', 1, 8],
    ['[{}', 1, 4],
    ['', 1, 1],
    ['[{"a": "x\n"}]', 1, 8],
    ['{"a": 1}', 1, 1],
    ['[{}, 3]', 1, 6],
    ['[{}] x', 1, 6],
    ["[{'a': 1}]", 1, 3],
    ['[{"a": tru}]', 1, 8],
  ])('says where %j goes wrong', (text, line, column) => {
    expect(() => parseCatalogue(text)).toThrow(
      expect.objectContaining({ code: 'catalogue/invalid', data: { line, column } }),
    );
  });

  it('knows which places are free', () => {
    const free = freePlaces([entry], DEFAULT_VOCABULARY);
    expect(free).toHaveLength(249);
    expect(free).not.toContainEqual({ domain: 'cold-chain', era: '1950s' });
    expect(free[0]).toEqual({ domain: 'aerospace', era: '1920s' });
  });
});

describe('the outline of a JSON text', () => {
  it('finds no fault in what JSON.parse takes, and one in what it does not', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: fc.constantFrom(...'[]{},:"\\u0a-.e1tn \n') })), (text) => {
        const taken = (() => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        })();
        expect(outline(text).fault === null).toBe(taken);
      }),
      { numRuns: 2000 },
    );
  });

  it('knows where items and their keys begin', () => {
    const text = '[\n {"a": {"b": 1}, "c": 2},\n 3]';
    const { items } = outline(text);
    expect(items.map(({ offset }) => positionAt(text, offset).line)).toEqual([2, 3]);
    expect([...(items[0]?.keys.keys() ?? [])]).toEqual(['a', 'c']);
  });
});

describe('colours and names', () => {
  it('reads #rrggbb in either case and nothing else', () => {
    expect(parseColour('#8A5a1c')).toEqual([138, 90, 28]);
    for (const text of ['8a5a1c', '#fff', '#8a5a1', '#8a5a1cff', ' #8a5a1c', 'red', '#8a5a1g'])
      expect(parseColour(text)).toBeNull();
  });

  it('measures straight distance', () => {
    expect(distance([0, 0, 0], [255, 255, 255])).toBeCloseTo(441.67, 2);
    expect(distance([10, 20, 30], [13, 24, 30])).toBe(5);
  });

  it('folds case and white space', () => {
    expect(fold('  BRINE\u00a0\n Pump ')).toBe('brine pump');
    expect(fold('Bri\u00adne')).toBe('brine');
  });
});
