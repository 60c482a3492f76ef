import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLine } from '../../src/session/line.ts';
import { usualLine } from '../../src/session/usual.ts';

const AT = '2026-05-04T12:00:00.123Z';
const LONG = 'x\\"\n√😀\\'.repeat(200);

const message = (message: object): object => ({ at: AT, kind: 'message', message });
const event = (event: object): object => ({ kind: 'event', at: AT, event });

/** Text as agents write it, and what is awkward in JSON. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('"', '\\', '}', '{', '\n', '\u2028', '\ud800', '😀', 'a', ',') }),
  fc.string().map((some) => LONG + some),
);
const name = fc.oneof(fc.constantFrom('write', 'shell', ''), fc.string());
const optional = { requiredKeys: [] };
const records = fc.oneof(
  fc.record({ type: name, text }).map(message),
  fc
    .tuple(
      fc.record({ kind: name, id: name, name }, { requiredKeys: ['kind'] }),
      fc.constantFrom('arguments', 'result', 'failure'),
      text,
    )
    .map(([head, key, said]) => message({ type: 'activity', text: '', activity: { ...head, [key]: said } })),
  fc.record({ kind: name, tool: name, text: name, iteration: fc.oneof(fc.nat(), fc.double()) }, optional).map(event),
  fc.jsonValue().map((value) => message({ type: 'bot', text: LONG, more: value })),
);

describe('a line laid out as most are', () => {
  it.each([
    ['a long text', message({ type: 'bot', text: LONG })],
    ['a short text', message({ type: 'reasoning', text: 'I look at it: {so}.' })],
    [
      'a call',
      message({ type: 'activity', text: '', activity: { kind: 'request', id: 'a', name: 'b', arguments: LONG } }),
    ],
    ['an answer', message({ type: 'activity', text: '', activity: { kind: 'response', id: 'a', result: LONG } })],
    ['a failure', message({ type: 'activity', text: '', activity: { kind: 'response', failure: LONG } })],
    ['an iteration', event({ kind: 'iteration', iteration: 12 })],
    ['a tool at work', event({ kind: 'toolCallStart', tool: 'shell', text: 'ls' })],
  ])('is read at once: %s', (_, record) => {
    const json = JSON.stringify(record);
    expect(usualLine(json)?.line).toEqual(parseLine(json));
  });

  it.each([
    ['more behind its text', JSON.stringify(message({ type: 'bot', text: LONG, images: [] }))],
    [
      'two strings where one should be',
      `{"kind":"message","at":"","message":{"type":"bot","text":"${'a'.repeat(1100)}","text":"b"}}`,
    ],
    ['a text that does not end', `{"kind":"message","at":"","message":{"type":"bot","text":"${'a'.repeat(1100)}\\"}}`],
    ['a text with a tab in it', `{"kind":"message","at":"","message":{"type":"bot","text":"${'a'.repeat(1100)}\t"}}`],
    ['a number no JSON has', '{"kind":"event","at":"","event":{"kind":"iteration","iteration":01}}'],
    ['a brace too many', '{"kind":"event","at":"","event":{"kind":"iteration","iteration":1}}}'],
    ['an escape in a short string', '{"kind":"event","at":"","event":{"kind":"itera\\u0074ion"}}'],
    ['another kind', '{"kind":"result","at":"","result":{"reason":"settled"}}'],
    ['nothing', ''],
    ['braces alone', '}}}'],
  ])('is not one with %s', (_, json) => {
    expect(usualLine(json)).toBeNull();
  });

  it('says what a parser makes of it, and its literals are the strings of its message', () => {
    fc.assert(
      fc.property(records, (record) => {
        const json = JSON.stringify(record);
        const usual = usualLine(json);
        if (usual === null) return;
        expect(usual.line).toEqual(parseLine(json));
        const { text, activity } = usual.line.kind === 'message' ? usual.line.message : { text: undefined };
        for (const [key, literal] of Object.entries(usual.literals)) {
          expect(json).toContain(literal);
          expect(JSON.parse(literal)).toBe(key === 'text' ? text : (activity?.[key as 'result'] ?? ''));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('is never read as something else after an edit', () => {
    const bit = fc.constantFrom('"', '\\', '{', '}', ',', ':', '\t', '0', 'u0041', '"text":"', '\ud800', '');
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), bit), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(records, edits, fc.boolean(), (record, changes, atEnd) => {
        let json = JSON.stringify(record);
        for (const [place, gone, put] of changes) {
          const span = Math.min(json.length, 120);
          const at = atEnd ? json.length - (place % (span + 1)) : place % (span + 1);
          json = json.slice(0, at) + put + json.slice(at + gone);
        }
        const usual = usualLine(json);
        if (usual !== null) expect(usual.line).toEqual(parseLine(json));
      }),
      { numRuns: 5000 },
    );
  });
});
