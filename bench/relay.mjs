#!/usr/bin/env node
// What the relay adds to a request: the same streamed answer asked for directly and through the relay, by turns, for a
// small and a large conversation. Prints medians in milliseconds, those of the fastest tenth (what it takes when nothing
// else wants the processor), and whether the difference of the medians is under the bar of 5 ms.
// The provider and the client are threads of their own, as they are processes of their own in a shift: only the relay runs here.
import { createServer } from 'node:http';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

const BAR_MS = 5;
const ROUNDS = 300;

/** A provider that answers any request with fifty words and their usage. */
function provide() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let n = 0; n < 50; n += 1) response.write(`data: {"choices":[{"delta":{"content":"word ${n} "}}]}\n\n`);
      response.write('data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50}}\n\n');
      response.end('data: [DONE]\n\n');
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}

/** Asks by turns and tells the medians of each size. */
async function ask({ direct, relayed, token }) {
  async function once(baseUrl, body) {
    const began = performance.now();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body });
    await response.text();
    return performance.now() - began;
  }
  const part = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
  const figures = (values) => ({ median: part(values, 0.5), fast: part(values, 0.05) });
  for (const [name, bytes, rounds] of [
    ['20 KB', 20_000, ROUNDS],
    ['2 MB, with images', 2_000_000, ROUNDS / 3],
  ]) {
    const content = 'a line of \\"text\\"\n'.repeat(500) + 'A'.repeat(bytes);
    const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content }] });
    const [straight, through] = [[], []];
    for (let n = 0; n < 40; n += 1) await once(n % 2 ? direct : relayed, body);
    for (let n = 0; n < rounds; n += 1) {
      straight.push(await once(direct, body));
      through.push(await once(relayed, body));
    }
    parentPort.postMessage({ name, straight: figures(straight), through: figures(through) });
  }
}

async function run() {
  const { startRelay } = await import('../dist/harness/relay.js');
  const provider = new Worker(new URL(import.meta.url), { workerData: { part: 'provider' } });
  const port = await new Promise((done) => provider.once('message', done));
  const direct = `http://127.0.0.1:${port}/v1`;
  const relay = await startRelay({ upstream: { baseUrl: direct, key: 'key-of-the-bench-0123456789' }, caps: {} });
  const given = { part: 'client', direct, relayed: relay.baseUrl, token: relay.token };
  const client = new Worker(new URL(import.meta.url), { workerData: given });
  let ok = true;
  client.on('message', ({ name, straight, through }) => {
    ok &&= through.median - straight.median < BAR_MS;
    const told = (of) => [straight[of], through[of], through[of] - straight[of]].map((ms) => ms.toFixed(2)).join(', ');
    console.log(
      `relay, request of ${name}: direct, relayed, added: ${told('median')} ms; fastest tenth ${told('fast')} ms`,
    );
  });
  await new Promise((done, fail) => client.once('exit', done).once('error', fail));
  console.log(`relay: ${ok ? 'under' : 'OVER'} the bar of ${BAR_MS} ms a request`);
  process.exitCode = ok ? 0 : 1;
  await relay.close();
  await provider.terminate();
}

if (isMainThread) await run();
else if (workerData.part === 'provider') provide();
else await ask(workerData);
