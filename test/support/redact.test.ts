import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { RedactStream, redactor, secretForms } from '../../src/support/redact.ts';

const SECRET = 'sk-or-v1/Aa+9"tëst';

describe('redactor', () => {
  it.each([
    ['raw', SECRET],
    ['URL-encoded', encodeURIComponent(SECRET)],
    ['JSON-escaped', JSON.stringify({ key: SECRET })],
    ['hex', Buffer.from(SECRET).toString('hex')],
    ['base64', Buffer.from(SECRET).toString('base64')],
    ['base64 after one byte', Buffer.from(`x${SECRET}yz`).toString('base64')],
    ['base64 after two bytes', Buffer.from(`xy${SECRET}z`).toString('base64')],
    ['base64url', Buffer.from(`Bearer ${SECRET}`).toString('base64url')],
  ])('takes a secret out in its %s form', (_, seen) => {
    const clean = redactor([SECRET])(`before ${seen} after`);
    expect(clean).toContain('[redacted]');
    for (const form of secretForms(SECRET)) expect(clean).not.toContain(form);
  });

  it('leaves text without a secret as it is', () => {
    expect(redactor([SECRET])('nothing here')).toBe('nothing here');
    expect(redactor([])('nothing here')).toBe('nothing here');
  });
});

describe('RedactStream', () => {
  it('finds a secret that straddles any chunk boundary, and loses nothing else', async () => {
    const whole = Buffer.from(`line one\nkey=${SECRET}; tail é\nlast`);
    for (let cut = 1; cut < whole.length; cut += 1) {
      const parts = Readable.from([whole.subarray(0, cut), whole.subarray(cut)]);
      expect(await text(parts.pipe(new RedactStream([SECRET])))).toBe('line one\nkey=[redacted]; tail é\nlast');
    }
  });

  it('finds a secret of several lines', async () => {
    const pem = '-----BEGIN KEY-----\nabc\ndef\n-----END KEY-----';
    const parts = Readable.from([...`x ${pem} y`].map((letter) => Buffer.from(letter)));
    expect(await text(parts.pipe(new RedactStream([pem])))).toBe('x [redacted] y');
  });
});
