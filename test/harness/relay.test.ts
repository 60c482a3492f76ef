import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Relay, type RelayOptions, startRelay } from '../../src/harness/relay.ts';
import { type ScriptedProvider, startProvider } from '../helpers/provider.ts';

const KEY = 'sk-secret-key-of-the-provider';
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function relayTo(baseUrl: string, over: Partial<RelayOptions> = {}): Promise<Relay> {
  const relay = await startRelay({
    upstream: { baseUrl, key: KEY, headers: { 'x-title': 'Machinery' } },
    caps: {},
    ...over,
  });
  open.push(relay);
  return relay;
}

async function scripted(...args: Parameters<typeof startProvider>): Promise<ScriptedProvider> {
  const provider = await startProvider(...args);
  open.push(provider);
  return provider;
}

/** A provider that does exactly what a test says. */
async function server(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const made: Server = createServer(handle);
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  open.push({
    close: () => {
      made.closeAllConnections();
      return new Promise((done) => made.close(done));
    },
  });
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/v1`;
}

const ask = (relay: Relay, body: unknown = { model: 'm', stream: true, messages: [] }, over: RequestInit = {}) =>
  fetch(`${relay.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${relay.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...over,
  });

const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

/** The status that a raw request gets; fetch does not let a Host be chosen. */
async function statusOf(relay: Relay, headers: Record<string, string>): Promise<number> {
  const asked = request(`${relay.baseUrl}/models`, { headers: { authorization: `Bearer ${relay.token}`, ...headers } });
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

describe('the door of the relay', () => {
  it('opens only for its own token, and the provider hears nothing of another', async () => {
    const provider = await scripted([], { after: { text: 'hi' } });
    const relay = await relayTo(provider.baseUrl);
    for (const authorization of [
      '',
      'Bearer wrong',
      `Bearer ${relay.token}x`,
      `Basic ${relay.token}`,
      `Bearer ${KEY}`,
    ]) {
      const response = await ask(relay, {}, { headers: { authorization } });
      expect([response.status, await codeOf(response)]).toEqual([401, 'machinery_token']);
    }
    expect(provider.requests).toHaveLength(0);
    expect((await ask(relay)).status).toBe(200);
  });

  it('answers only to its loopback name', async () => {
    const relay = await relayTo(await server((_request, response) => response.end('{}')));
    const { port } = new URL(relay.baseUrl);
    expect(await statusOf(relay, { host: `127.0.0.1:${port}` })).toBe(200);
    expect(await statusOf(relay, { host: `localhost:${port}` })).toBe(200);
    for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, '127.0.0.1:1']) {
      expect(await statusOf(relay, { host })).toBe(403);
    }
  });

  it('leads to nothing but completions and the list of models', async () => {
    const relay = await relayTo(await server((_request, response) => response.end('{}')));
    const headers = { authorization: `Bearer ${relay.token}` };
    const root = new URL(relay.baseUrl).origin;
    const paths = [
      '/v1/embeddings',
      '/v1/chat/completions/../../admin',
      '/',
      '/v1/../v1/keys',
      '//evil.example/v1/models',
    ];
    for (const path of paths) expect((await fetch(root + path, { headers })).status).toBe(404);
    expect((await fetch(`${relay.baseUrl}/chat/completions`, { headers })).status).toBe(404);
    expect((await fetch(`${relay.baseUrl}/models`, { headers })).status).toBe(200);
  });
});

describe('what passes through', () => {
  it('carries the key and the attribution, not the token, and asks for usage', async () => {
    const provider = await scripted([{ text: 'hello' }], { token: KEY });
    const relay = await relayTo(provider.baseUrl);
    const response = await ask(relay);
    expect(await response.text()).toContain('[DONE]');
    const [asked] = provider.requests;
    expect(asked?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-title': 'Machinery' });
    expect(JSON.stringify(asked?.headers)).not.toContain(relay.token);
    expect(asked?.body.stream_options).toEqual({ include_usage: true });
    expect(Number(asked?.headers['content-length'])).toBeGreaterThan(0);
  });

  it('comes out piece by piece, as it goes in', async () => {
    let go = () => {};
    const gate = new Promise<void>((done) => {
      go = done;
    });
    const baseUrl = await server(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"n":1}\n\n');
      await gate;
      response.end('data: [DONE]\n\n');
    });
    const reader = (await ask(await relayTo(baseUrl))).body?.getReader();
    // The second piece is only sent once the first was seen here.
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {"n":1}\n\n');
    go();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: [DONE]\n\n');
  });

  it('begins to reach the provider before the request is whole', async () => {
    const baseUrl = await server((incoming, response) => {
      incoming.once('data', () => response.end('{"early":true}'));
    });
    const relay = await relayTo(baseUrl);
    const asked = request(`${relay.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${relay.token}` },
    });
    asked.write('{"model":"m","messages":[');
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    asked.on('error', () => {}).destroy();
  });

  it('waits for a reader that is slow', async () => {
    let written = 0;
    const baseUrl = await server((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('error', () => {});
      const line = Buffer.from(`data: "${'x'.repeat(65_000)}"\n\n`);
      const more = () => {
        while (written < 200_000_000 && !response.destroyed) {
          written += line.length;
          if (!response.write(line)) return void response.once('drain', more);
        }
      };
      more();
    });
    const relay = await relayTo(baseUrl);
    const asked = request(`${relay.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${relay.token}` },
    });
    asked.end('{"stream":true}');
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    let before = -1;
    while (before !== written) {
      before = written;
      await new Promise((done) => setTimeout(done, 200));
    }
    expect(written).toBeLessThan(50_000_000);
    asked.on('error', () => {}).destroy();
  });

  it('ends at the provider when the client goes away', async () => {
    const gone = new Promise<void>((done) => {
      void server((incoming, response) => {
        incoming.resume();
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"n":1}\n\n');
        response.once('close', () => done());
      }).then(async (baseUrl) => {
        const relay = await relayTo(baseUrl);
        const stop = new AbortController();
        const response = await ask(relay, undefined, { signal: stop.signal });
        await response.body?.getReader().read();
        stop.abort();
      });
    });
    await gone;
  });

  it('keeps Retry-After and hides what else the provider sends', async () => {
    const headers = { 'retry-after': '7', 'set-cookie': 'a=b', 'x-request-id': 'r1', 'x-internal': KEY };
    const provider = await scripted([{ status: 429, headers }]);
    const response = await ask(await relayTo(provider.baseUrl));
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('x-request-id')).toBe('r1');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('x-internal')).toBeNull();
  });
});

describe('trouble', () => {
  it('says in plain words that the provider cannot be reached', async () => {
    const relay = await relayTo('http://127.0.0.1:1/v1');
    const response = await ask(relay);
    expect([response.status, await codeOf(response)]).toEqual([502, 'machinery_unreachable']);
    expect(relay.lastFailure()).toMatchObject({ status: null, message: expect.stringContaining('ECONNREFUSED') });
  });

  it('takes the key to no other address', async () => {
    let taken: string | undefined;
    const elsewhere = await server((incoming, response) => {
      taken = incoming.headers.authorization;
      response.end('{}');
    });
    const relay = await relayTo(
      await server((_request, response) => response.writeHead(307, { location: `${elsewhere}/x` }).end()),
    );
    const response = await ask(relay);
    expect([response.status, await codeOf(response)]).toEqual([502, 'machinery_redirect']);
    expect(taken).toBeUndefined();
  });

  it('passes a cut on as a cut', async () => {
    const provider = await scripted([{ text: 'half an ans', cut: true }]);
    const relay = await relayTo(provider.baseUrl);
    await expect((await ask(relay)).text()).rejects.toThrow();
    await expect.poll(() => relay.lastFailure()?.message).toContain('cut');
  });

  it('keeps the last failed exchange, without key and images', async () => {
    const body = { error: { message: `Incorrect API key provided: ${KEY}`, code: 'invalid' } };
    const provider = await scripted([{ status: 401, body }]);
    const events: object[] = [];
    const relay = await relayTo(provider.baseUrl, { log: (event) => events.push(event) });
    const image = `data:image/png;base64,${'iVBOR'.repeat(2000)}`;
    const parts = [
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: image } },
    ];
    const response = await ask(relay, { stream: true, messages: [{ role: 'user', content: parts }], note: KEY });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(KEY);
    const failure = relay.lastFailure();
    expect(failure).toMatchObject({ status: 401, response: expect.stringContaining('Incorrect API key') });
    expect(failure?.request).toContain('image/png of 10022 characters taken out');
    expect(failure?.requestBytes).toBeGreaterThan(10_000);
    expect(JSON.stringify([failure, events])).not.toContain(KEY);
    expect(JSON.stringify([failure, events])).not.toContain('iVBORiVBOR');
  });

  it('does not pass the key back, even if a provider echoes it in a stream across chunks', async () => {
    const baseUrl = await server((incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const seen = incoming.headers.authorization ?? '';
      response.write(`data: {"you":"${seen.slice(0, 15)}`);
      setTimeout(() => response.end(`${seen.slice(15)}"}\n\ndata: [DONE]\n\n`), 50);
    });
    const text = await (await ask(await relayTo(baseUrl))).text();
    expect(text).toContain('[redacted]');
    expect(text).not.toContain(KEY.slice(10));
  });
});

describe('counting', () => {
  it('adds up the usage of streams and whole answers, and the cost where it is told', async () => {
    const whole = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, cost: 0.5 } };
    const provider = await scripted([
      { text: 'a', usage: { input: 100, output: 20 } },
      { text: 'b', usage: { input: 1, output: 2, cost: 0.25 } },
      { raw: `data: ${JSON.stringify(whole)}\n\ndata: [DONE]\n\n` },
    ]);
    const relay = await relayTo(provider.baseUrl);
    await (await ask(relay)).text();
    expect(relay.usage()).toEqual({ requests: 1, inputTokens: 100, outputTokens: 20, dollars: null, estimated: 0 });
    await (await ask(relay)).text();
    await (await ask(relay)).text();
    expect(relay.usage()).toMatchObject({ requests: 3, inputTokens: 108, outputTokens: 25, dollars: 0.75 });
  });

  it('reads the usage of an answer that is not streamed', async () => {
    const usage = { input_tokens: 11, output_tokens: 4 };
    const relay = await relayTo(
      await server((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ usage }));
      }),
    );
    await (await ask(relay, { messages: [] })).text();
    expect(relay.usage()).toMatchObject({ inputTokens: 11, outputTokens: 4, estimated: 0 });
  });

  it('estimates what a client that hangs up has used, so that hanging up is not free', async () => {
    const provider = await scripted([{ text: 'word '.repeat(50), silent: true }]);
    const relay = await relayTo(provider.baseUrl);
    const stop = new AbortController();
    const messages = [{ role: 'user', content: 'x'.repeat(4000) }];
    const response = await ask(relay, { stream: true, messages }, { signal: stop.signal });
    await response.body?.getReader().read();
    stop.abort();
    await expect.poll(() => relay.usage().estimated).toBe(1);
    expect(relay.usage().inputTokens).toBeGreaterThan(1000);
    expect(relay.usage().outputTokens).toBeGreaterThan(0);
  });

  it('charges nothing for a refusal', async () => {
    const provider = await scripted([{ status: 500 }]);
    const relay = await relayTo(provider.baseUrl);
    await (await ask(relay)).text();
    expect(relay.usage()).toMatchObject({ requests: 1, inputTokens: 0, outputTokens: 0, estimated: 0 });
  });
});

describe('a cap', () => {
  it.each([
    ['tokens', { tokens: 15 }],
    ['dollars', { dollars: 0.2 }],
  ] as const)('of %s answers no request once it is reached', async (cap, caps) => {
    const provider = await scripted([{ text: 'a', usage: { input: 10, output: 5, cost: 0.3 } }], {
      after: { text: 'b' },
    });
    const relay = await relayTo(provider.baseUrl, { caps });
    expect(relay.cap()).toBeNull();
    await (await ask(relay)).text();
    expect(relay.cap()).toBe(cap);
    const response = await ask(relay);
    expect([response.status, await codeOf(response)]).toEqual([402, 'machinery_cap']);
    expect(provider.requests).toHaveLength(1);
  });

  it('ends a stream on its way with an error, and the provider stops too', async () => {
    let over = () => {};
    const stopped = new Promise<void>((done) => {
      over = done;
    });
    const baseUrl = await server((incoming, response) => {
      incoming.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write('data: {"choices":[{"delta":{"content":"on and on "}}]}\n\n'), 5);
      response.once('close', () => {
        clearInterval(timer);
        over();
      });
    });
    const relay = await relayTo(baseUrl, { caps: { tokens: 20 } });
    const text = await (await ask(relay)).text();
    expect(JSON.parse(text.trim().split('\n').at(-1)?.slice(5) ?? '')).toMatchObject({
      error: { code: 'machinery_cap' },
    });
    await stopped;
    expect(relay.cap()).toBe('tokens');
    expect(relay.lastFailure()?.message).toContain('cap of tokens');
  });
});

it('closes with requests on their way', async () => {
  const provider = await scripted([{ text: 'a', silent: true }]);
  const relay = await startRelay({ upstream: { baseUrl: provider.baseUrl }, caps: {} });
  const response = await ask(relay);
  await relay.close();
  await expect(response.text()).rejects.toThrow();
  await expect(ask(relay)).rejects.toThrow();
});
