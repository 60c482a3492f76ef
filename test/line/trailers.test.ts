import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { landingMessage, landingSubject, leftOutOf, readTrailers, snapshotMessage } from '../../src/line/trailers.ts';
import { SESSION, SHIFT } from './helpers.ts';

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom('\n', '\n\n', '\r', '\u2028', '\u0085', '\v', 'Shift: 1', 'Session: 2', ' ', '\t', '\0', 'x'),
    )
    .map((parts) => parts.join('')),
);

describe('the message of a landed commit', () => {
  it('has subject, summary and trailers, in the form they are read by', () => {
    expect(
      landingMessage({
        subject: landingSubject('Ore Crusher', 'It crushes ore'),
        body: 'I built it.\n\nIt works.',
        shift: SHIFT,
        session: SESSION,
      }),
    ).toBe(
      `shift: Ore Crusher - It crushes ore\n\n    I built it.\n\n    It works.\n\nShift: ${SHIFT}\nSession: ${SESSION}\n`,
    );
  });

  it('has no session where there was none, and no empty body', () => {
    expect(landingMessage({ subject: 'shift: a - b', body: '', shift: SHIFT, session: null })).toBe(
      `shift: a - b\n\nShift: ${SHIFT}\n`,
    );
  });

  it('says the same shift and session whatever the summary, the name and the tagline are', () => {
    fc.assert(
      fc.property(anything, anything, anything, (name, tagline, body) => {
        const message = landingMessage({
          subject: landingSubject(name, tagline),
          body,
          shift: SHIFT,
          session: SESSION,
        });
        expect([...readTrailers(message)]).toEqual([
          ['Shift', SHIFT],
          ['Session', SESSION],
        ]);
        const [subject = '', blank] = message.split('\n');
        expect(subject.startsWith('shift: ')).toBe(true);
        expect(subject.length).toBeLessThan(400);
        expect(blank).toBe('');
        expect(
          message
            .split('\n')
            .slice(1)
            .filter((line) => /^(Shift|Session|Factory|Continued):/i.test(line)),
        ).toHaveLength(2);
        expect(message).not.toMatch(/[\0\r\v\f\u2028\u2029\u0085]/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('readTrailers', () => {
  it.each([
    ['only the last paragraph counts', 'a\n\nShift: 1\n\nSession: 2\n', [['Session', '2']]],
    ['an indented line is none', 'a\n\n    Shift: 1\n', []],
    ['a paragraph with any other line has none', 'a\n\nShift: 1\nand more\n', []],
    ['a subject alone has none', 'Shift: 1\n', []],
    ['an empty message has none', '', []],
  ])('%s', (_name, message, expected) => {
    expect([...readTrailers(message)]).toEqual(expected);
  });

  it('throws at nothing', () => {
    fc.assert(fc.property(anything, (message) => readTrailers(message) instanceof Map));
  });
});

describe('the message of a snapshot', () => {
  it('tells what was left out, the shelf first, and is read back', () => {
    const message = snapshotMessage({ shift: SHIFT }, 'f', ['pipe (a pipe)', 'site/x (a socket)']);
    expect(leftOutOf(message)).toEqual(['site/x (a socket)', 'pipe (a pipe)']);
    expect(readTrailers(message).get('Continued')).toBe('0');
  });

  it('is not mistaken for the summary of an agent', () => {
    expect(
      leftOutOf(
        landingMessage({ subject: 'a', body: 'left out: site/x (a nested repository)', shift: SHIFT, session: null }),
      ),
    ).toEqual([]);
  });
});
