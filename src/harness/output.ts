import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { RedactStream } from '../support/redact.ts';

/** What is kept of one run's own output; a harness that says more is still listened to, and not written down. */
const MOST_OUTPUT = 64 * 1024 * 1024;

/** How long output may still come after the harness ended, in milliseconds. */
const LAST_WORDS = 500;

/**
 * Drains a process's output into a file, redacted, for as long as it lives: a harness blocks when nobody reads it. A
 * full disk or a flood ends the writing, never the reading.
 * @returns a function to call once the process ended. It waits a moment for the last words and then stops listening,
 * because a grandchild may hold the output open for ever.
 */
export function keepOutput(streams: Readable[], file: string, secrets: readonly string[]): () => Promise<void> {
  const sink = createWriteStream(file, { flags: 'a', mode: 0o600 });
  let room = MOST_OUTPUT;
  let failed = false;
  const waiting = new Set<Readable>();
  const goOn = () => {
    for (const stream of waiting) stream.resume();
    waiting.clear();
  };
  sink.on('error', () => {
    failed = true;
    goOn();
  });
  sink.on('drain', goOn);

  const pipes = streams.map((stream) => ({ stream, clean: new RedactStream(secrets) }));
  const drained = pipes.map(({ stream, clean }) => {
    stream.on('error', () => clean.end());
    clean.on('data', (chunk: Buffer) => {
      if (failed || room <= 0) return;
      room -= chunk.length;
      const kept = sink.write(room > 0 ? chunk : '\n[the rest of the output was not kept]\n');
      if (kept) return;
      clean.pause();
      waiting.add(clean);
    });
    stream.pipe(clean);
    return new Promise<void>((done) => {
      clean.once('end', done).once('close', done);
    });
  });

  return async () => {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all(drained),
      new Promise((done) => {
        timer = setTimeout(done, LAST_WORDS);
      }),
    ]);
    clearTimeout(timer);
    for (const { stream, clean } of pipes) {
      stream.unpipe(clean);
      stream.destroy();
      if (!clean.writableEnded) clean.end();
    }
    await Promise.all(drained);
    await new Promise<void>((done) => {
      if (failed || sink.destroyed) return done();
      sink.once('close', done);
      sink.end();
    });
  };
}
