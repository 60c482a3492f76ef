import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AskUsage, GROWTH } from '../../../src/harness/relay/ask-usage.ts';

async function through(body: Buffer, sizes: number[] = [body.length || 1]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let at = 0, n = 0; at < body.length; n += 1) {
    const size = sizes[n % sizes.length] as number;
    chunks.push(body.subarray(at, at + size));
    at += size;
  }
  const out: Buffer[] = [];
  for await (const chunk of Readable.from(chunks).pipe(new AskUsage())) out.push(chunk as Buffer);
  return Buffer.concat(out);
}

const sent = async (body: object | string) =>
  through(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

describe('asking for usage', () => {
  it('adds the question to a request that streams', async () => {
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'say "}" and \\' }] };
    expect(JSON.parse((await sent(body)).toString())).toEqual({ ...body, stream_options: { include_usage: true } });
  });

  it.each([
    ['one that does not stream', { model: 'm', messages: [] }],
    ['one that says stream: false', { stream: false, messages: [] }],
    ['one that asks by itself', { stream: true, stream_options: { include_usage: false } }],
    ['one where only something inside says stream', { messages: [{ stream: true }], note: '"stream":true' }],
    ['one with a text that looks like it', { content: ',"stream":true}', x: 'stream' }],
  ])('leaves %s as it means', async (_name, body) => {
    expect(JSON.parse((await sent(body)).toString())).toEqual(body);
  });

  it.each(['', 'null', '{"stream":true', '{"a":"unended', 'no json at all'])(
    'passes %j on with spaces behind it',
    async (body) => {
      expect((await sent(body)).toString().trimEnd()).toBe(body);
    },
  );

  it('makes every body longer by the same count, wherever it is split, and never changes what it says', async () => {
    const json = fc.object({ maxDepth: 3, withBigInt: false, key: fc.oneof(fc.constant('stream'), fc.string()) });
    const text = fc.tuple(json, fc.boolean(), fc.constantFrom(0, 2));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (given, sizes) => {
        const [value, streams, indent] = given;
        const body = { ...value, stream: streams };
        const bytes = Buffer.from(JSON.stringify(body, null, indent));
        const out = await through(bytes, sizes);
        expect(out.length).toBe(bytes.length + GROWTH);
        const meant = JSON.parse(bytes.toString());
        const asked = streams && !('stream_options' in meant) ? { stream_options: { include_usage: true } } : {};
        expect(JSON.parse(out.toString())).toEqual({ ...meant, ...asked });
      }),
      { numRuns: 300 },
    );
  });
});
