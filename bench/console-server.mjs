// The server's half of the console bench, in a process of its own so that nothing but the server is measured: a control room
// over a factory that works nothing, told by its parent what to pretend.
import { loadConfig } from '../dist/config/load.js';
import { startConsole } from '../dist/console/server.js';

const listeners = new Set();
let current = null;
const factory = {
  status: () => ({
    pid: process.pid,
    host: 'bench',
    version: '0',
    startedAt: new Date(0).toISOString(),
    state: current ? 'working' : 'waiting',
    paused: null,
    current,
    queued: null,
    coalesced: 0,
    nextTick: null,
  }),
  listen: (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

const config = await loadConfig({ cwd: process.argv[2], env: {}, flags: { 'console.port': 0 } });
const room = await startConsole({ config, factory });

process.on('message', ({ ask, record }) => {
  if (ask === 'begin') current = { by: 'bench', since: record.startedAt, record, activity: null };
  if (ask === 'tell') for (const listen of listeners) listen({ type: 'activity' });
  if (ask === 'close') void room.close().then(() => process.disconnect());
  if (ask !== 'memory') return;
  globalThis.gc();
  const { heapUsed, rss } = process.memoryUsage();
  process.send({ memory: { heap: heapUsed / 1e6, rss: rss / 1e6 } });
});
process.send({ port: Number(new URL(room.url).port) });
