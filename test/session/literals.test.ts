import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageLiterals } from '../../src/session/literals.ts';

const LONG = 'x\\"\n√😀\\'.repeat(200);

describe("a message's long strings", () => {
  it('are cut out of the line as they stand there', () => {
    const activity = {
      kind: 'response',
      id: 'a"b',
      result: LONG,
      deep: { text: 'no', list: ['}', '"', 1, null] },
      failure: '',
    };
    const json = JSON.stringify({ kind: 'message', message: { images: [], activity, text: `${LONG}!` } }, null, 1);
    const found = messageLiterals(json);
    expect(JSON.parse(found.text as string)).toBe(`${LONG}!`);
    expect(JSON.parse(found.result as string)).toBe(LONG);
    expect(found.failure).toBe('""');
    expect(json).toContain(found.result);
  });

  it('keep the spelling they came with', () => {
    const json = `{"message":{"type":"bot","text":"\\u003cb\\u003e${'y'.repeat(2000)}"}}`;
    expect(messageLiterals(json).text).toMatch(/^"\\u003cb\\u003ey+"$/);
  });

  it('are none where the value is no string', () => {
    const json = JSON.stringify({ message: { text: 5, activity: { result: { a: LONG }, arguments: [LONG] } } });
    expect(messageLiterals(json)).toEqual({});
  });

  it('are those of the last of two keys, as a parser has it', () => {
    const json = `{"message":{"text":"${'a'.repeat(1000)}"},"message":{"text":"first","text":"${'b'.repeat(1000)}"}}`;
    expect(messageLiterals(json).text).toBe(`"${'b'.repeat(1000)}"`);
    expect(messageLiterals(`{"message":{"text":"${'a'.repeat(2000)}"},"message":7}`)).toEqual({});
  });

  it('are not sure when a key is spelt with escapes', () => {
    expect(messageLiterals(`{"message":{"text":"${'a'.repeat(2000)}","te\\u0078t":"b"}}`)).toEqual({});
  });

  it('are not looked for in a short line', () => {
    expect(messageLiterals('{"message":{"text":"short"}}')).toEqual({});
  });

  it.each([
    ['a text', { type: 'bot', text: LONG }],
    ['a call', { type: 'activity', text: '', activity: { kind: 'request', id: 'a', name: 'b', arguments: LONG } }],
    ['an answer', { type: 'activity', text: 'x', activity: { kind: 'response', id: 'a', result: LONG } }],
    ['more behind it', { type: 'activity', text: '', activity: { kind: 'x', failure: LONG, more: 1 } }],
    ['two of them', { type: 'activity', text: '', activity: { kind: 'x', result: LONG, failure: `${LONG}!` } }],
  ])('are the same in a line laid out as they usually are, with %s', (_, message) => {
    const json = JSON.stringify({ kind: 'message', at: '2026-05-04T12:00:00Z', message });
    const { text, activity = {} } = message as { text: string; activity?: Record<string, string> };
    const found = Object.entries(messageLiterals(json)).map(([key, literal]) => [key, JSON.parse(literal)]);
    const { result, failure, arguments: args } = activity;
    const want = Object.entries({ text, result, failure, arguments: args }).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(want));
  });

  it('are those of the last of two keys in such a line, too', () => {
    const twice = `"text":"a","text":"${'b'.repeat(2000)}"`;
    expect(messageLiterals(`{"at":"x","message":{"type":"bot",${twice}}}`).text).toBe(`"${'b'.repeat(2000)}"`);
    expect(messageLiterals(`{"at":"x","message":{"type":"bot","text":"${'b'.repeat(2000)}"},"message":7}`)).toEqual({});
  });

  it('are what a parser reads there, whatever the line holds', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const value = fc.oneof(text, fc.jsonValue());
    const activity = fc.record({ kind: text, arguments: value, result: value, failure: value }, { requiredKeys: [] });
    const message = fc.record(
      { text: value, activity: fc.oneof(activity, value), images: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const line = fc.record({ pad: fc.constant('p'.repeat(1024)), extra: fc.jsonValue(), message });
    fc.assert(
      fc.property(line, fc.integer({ min: 0, max: 3 }), (record, indent) => {
        const json = JSON.stringify(record, null, indent);
        const said = (JSON.parse(json) as { message: Record<string, unknown> }).message;
        const inner = (typeof said.activity === 'object' && said.activity !== null ? said.activity : {}) as Record<
          string,
          unknown
        >;
        const want = { ...inner, text: said.text };
        for (const [key, literal] of Object.entries(messageLiterals(json))) {
          expect(JSON.parse(literal)).toBe(want[key as keyof typeof want]);
        }
      }),
    );
  });
});
