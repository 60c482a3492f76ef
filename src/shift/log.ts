import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import { redactor } from '../support/redact.ts';

/**
 * The shift's own log, `log.ndjson`: one JSON object a line, with shift and station, known secrets taken out.
 * Written synchronously, so that a process that dies has said everything it knew.
 */
export function shiftLog(
  folder: string,
  shift: string,
  secrets: readonly string[],
): { log: Logger; close: () => Promise<void> } {
  const redact = redactor(secrets);
  const file = pino.destination({ dest: join(folder, 'log.ndjson'), sync: true, mode: 0o600 });
  // A disk that is full must not end the shift: what the log loses, the record still tells.
  file.on('error', () => {});
  const stream = { write: (line: string) => void file.write(redact(line)) };
  const log = pino({ level: 'debug', base: { shift }, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return {
    log,
    close: async () => {
      file.end();
    },
  };
}
