import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { writeFileDurable } from '../support/files.ts';
import { drive } from './driver.ts';
import { findProgram } from './program.ts';
import { startRelay } from './relay.ts';
import type { Harness } from './types.ts';

/** What the self-test of a harness saw. */
export interface SelfTest {
  /** Whether an image that the agent viewed arrived at the model as an image part. */
  images: boolean;
  /** One sentence. */
  told: string;
}

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface Sight {
  asked: number;
  image: boolean;
}

/** A model that views `pixel.png` and then settles; it notes whether a request brought an image part. */
async function startEyes(sight: Sight) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    sight.asked += 1;
    sight.image ||= /"type"\s*:\s*"image_url"/.test(Buffer.concat(parts).toString('utf8'));
    const [name, args] = sight.asked === 1 ? ['view', { path: 'pixel.png' }] : ['success', { summary: 'seen' }];
    const call = { index: 0, id: `call_${sight.asked}`, type: 'function' };
    const delta = {
      role: 'assistant',
      tool_calls: [{ ...call, function: { name, arguments: JSON.stringify(args) } }],
    };
    const chunk = (choice: object) => `data: ${JSON.stringify({ id: 'self-test', choices: [choice] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      `${chunk({ index: 0, delta })}${chunk({ index: 0, delta: {}, finish_reason: 'tool_calls' })}data: [DONE]\n\n`,
    );
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((done) => {
        server.close(() => done());
      });
    },
  };
}

/** Has a harness view one image through the relay and sees whether the model gets it. Takes a few seconds. */
export async function selfTest(harness: Harness): Promise<SelfTest> {
  const folder = await mkdtemp(join(tmpdir(), 'machinery-self-test-'));
  const sight: Sight = { asked: 0, image: false };
  const eyes = await startEyes(sight);
  const relay = await startRelay({ upstream: { baseUrl: eyes.baseUrl }, caps: {} });
  try {
    const [checkout, data] = [join(folder, 'checkout'), join(folder, 'data')];
    for (const path of [checkout, data]) await mkdir(path);
    await writeFile(join(checkout, 'pixel.png'), PIXEL);
    await writeFile(join(folder, 'order.yaml'), 'objective: View the file pixel.png, then call success.\n');
    const { baseUrl, token } = relay;
    const outcome = await drive(
      harness,
      {
        shift: 'self-test',
        ...{ checkout, data, order: join(folder, 'order.yaml'), agentLog: join(folder, 'agent.log') },
        ...{ sessions: join(folder, 'sessions'), records: join(folder, 'records'), scratch: join(folder, 'scratch') },
        model: { provider: 'self-test', model: 'eyes', baseUrl, token, vision: true, context: 32_768 },
        limits: { timeMs: 30_000, graceMs: 1000, iterations: 4 },
        // Nothing but the fixed script above can speak to it, so it needs no confinement.
        sandbox: 'none',
        env: {},
      },
      { signal: new AbortController().signal },
    );
    if (sight.image) return { images: true, told: 'an image that it viewed arrived at the model' };
    if (sight.asked === 0) return { images: false, told: 'it did not reach the model at all' };
    const ended = outcome.result?.reason ?? 'without a result';
    return { images: false, told: `an image that it viewed did not arrive at the model (it ended: ${ended})` };
  } finally {
    await relay.close();
    await eyes.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A binary's SHA-256 and the moment it was last changed: a new one is tested anew. */
async function fingerprint(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return `${hash.digest('hex')} ${(await stat(file)).mtimeMs}`;
}

/** The self-test of a binary's harness, remembered in `cache` for as long as the binary is the same. */
export async function cachedSelfTest(harness: Harness, binary: string, cache: string): Promise<SelfTest> {
  const file = join(cache, `self-test-${harness.name}.json`);
  const key = await fingerprint(await findProgram(binary));
  try {
    const known = JSON.parse(await readFile(file, 'utf8')) as SelfTest & { key: string };
    if (known.key === key) return { images: known.images, told: known.told };
  } catch {
    // Not tested before, or what is there cannot be read: test.
  }
  const seen = await selfTest(harness);
  await writeFileDurable(file, `${JSON.stringify({ key, ...seen })}\n`);
  return seen;
}
