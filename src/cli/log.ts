import pino, { type Logger } from 'pino';
import type { Secret } from '../config/secrets.ts';
import { redactor } from '../support/redact.ts';

/** The long run's own log: JSON lines on stdout where a machine reads them, readable ones on a terminal; known secrets taken out. */
export async function factoryLog(
  secrets: readonly Secret[],
  out: NodeJS.WriteStream = process.stdout,
): Promise<Logger> {
  const redact = redactor(secrets.map(({ value }) => value));
  const sink = out.isTTY
    ? (await import('pino-pretty')).default({
        destination: out,
        ignore: 'pid,hostname',
        translateTime: 'SYS:HH:MM:ss',
        sync: true,
      })
    : out;
  const stream = { write: (line: string) => void sink.write(redact(line)) };
  return pino({ level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}
