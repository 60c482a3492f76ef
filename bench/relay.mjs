#!/usr/bin/env node
// What the relay adds to a request: the same streamed answer asked for directly and through the relay, by turns, for a
// small and a large conversation. Prints medians in milliseconds and whether the difference is under the floor of 5 ms.
import { createServer } from 'node:http';
import { startRelay } from '../dist/harness/relay.js';

const FLOOR_MS = 5;
const ROUNDS = 200;

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let n = 0; n < 50; n += 1) response.write(`data: {"choices":[{"delta":{"content":"word ${n} "}}]}\n\n`);
    response.write('data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50}}\n\n');
    response.end('data: [DONE]\n\n');
  });
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const direct = `http://127.0.0.1:${server.address().port}/v1`;
const relay = await startRelay({ upstream: { baseUrl: direct, key: 'key-of-the-bench-0123456789' }, caps: {} });

/** Milliseconds from the request to the end of its answer. */
async function once(baseUrl, body) {
  const began = performance.now();
  const headers = { authorization: `Bearer ${relay.token}`, 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body });
  await response.text();
  return performance.now() - began;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

let ok = true;
for (const [name, bytes, rounds] of [
  ['20 KB', 20_000, ROUNDS],
  ['2 MB, with images', 2_000_000, ROUNDS / 4],
]) {
  const content = 'a line of \\"text\\"\n'.repeat(500) + 'A'.repeat(bytes);
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content }] });
  const [straight, relayed] = [[], []];
  for (let n = 0; n < 20; n += 1) await once(n % 2 ? direct : relay.baseUrl, body);
  for (let n = 0; n < rounds; n += 1) {
    straight.push(await once(direct, body));
    relayed.push(await once(relay.baseUrl, body));
  }
  const added = median(relayed) - median(straight);
  ok &&= added < FLOOR_MS;
  const told = [median(straight), median(relayed), added].map((ms) => ms.toFixed(2));
  console.log(`relay, request of ${name}: direct ${told[0]} ms, relayed ${told[1]} ms, added ${told[2]} ms`);
}
console.log(`relay: ${ok ? 'under' : 'OVER'} the floor of ${FLOOR_MS} ms a request`);
process.exitCode = ok ? 0 : 1;
await relay.close();
server.closeAllConnections();
server.close();
