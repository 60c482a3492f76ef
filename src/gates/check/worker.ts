import { parentPort, workerData } from 'node:worker_threads';
import { openCache } from './cache.ts';
import { takeTurns, type Work } from './crew.ts';

/** One thread of the crew: judges until nothing is left, then says what it found. */
const work = workerData as Work;
const cache = work.cache === null ? null : openCache(work.cache);
const verdicts = await takeTurns(work, { site: work.site, cache, version: work.version });
cache?.save();
parentPort?.postMessage(verdicts);
