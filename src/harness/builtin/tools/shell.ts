import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { signalGroup, start } from '../../../support/process.ts';
import { BoundedOutput } from './bounded.ts';
import { ToolFailure, tool, words } from './tool.ts';

/** Seconds a command may take when the call does not say. */
const DEFAULT_SECONDS = 120;

/** How long output may still come after the command ended, while something else holds it open. */
const DRAIN_MS = 250;

/** Runs a command in the checkout and gives its combined output; a failing one is a result, not a failure. */
export const shell = tool({
  name: 'shell',
  description:
    'Run a command with /bin/sh in the checkout and return what it printed, stdout and stderr together; a status other ' +
    `than 0 is told at the end. It is ended after ${DEFAULT_SECONDS} seconds unless timeout says otherwise, and what it ` +
    'left running in the background is ended with it.',
  shape: z.object({
    command: words('The command'),
    timeout: z.int().describe(`Seconds it may take, ${DEFAULT_SECONDS} by default`).nullish(),
  }),
  async run({ command, timeout }, context) {
    const seconds = timeout && timeout > 0 ? timeout : DEFAULT_SECONDS;
    const cwd = context.checkout;
    // The inner shell gets the command untouched, with both streams on one pipe so that they keep their order.
    const args = ['-c', 'exec /bin/sh -c "$1" 2>&1', 'sh', command];
    const child = start('/bin/sh', args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
    const output = new BoundedOutput(context.maxOutput);
    const drained = collect(child.stdout as Readable, output);
    const end = () => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL');
    let late = false;
    const timer = setTimeout(
      () => {
        late = true;
        end();
      },
      Math.min(seconds * 1000, 2 ** 31 - 1),
    );
    context.signal.addEventListener('abort', end, { once: true });
    try {
      if (context.signal.aborted) end();
      // `exit`, not `close`: a grandchild that holds the pipe open would keep `close` back for ever.
      // A command that could not be started never exits.
      if (child.pid === undefined) throw new ToolFailure(`the command could not be started: ${await reason(child)}`);
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      await Promise.race([drained, sleep(DRAIN_MS)]);
      end();
      if (context.signal.aborted) throw new ToolFailure(`${output}\n[ended with the run]`.trim());
      if (late) return `${output}\n[timed out after ${seconds} s]`;
      if (code === 0) return output.toString();
      return `${output}\n[exit: ${code === null ? `ended by ${signal}` : `status ${code}`}]`;
    } finally {
      clearTimeout(timer);
      context.signal.removeEventListener('abort', end);
      (child.stdout as Readable).destroy();
    }
  },
});

async function reason(child: ReturnType<typeof start>): Promise<string> {
  const { message } = (await child) as { message?: string };
  return message?.split('\n')[0] ?? 'no reason was given';
}

async function collect(stream: Readable, output: BoundedOutput): Promise<void> {
  const decoder = new StringDecoder('utf8');
  stream.on('data', (bytes: Buffer) => output.push(decoder.write(bytes)));
  await new Promise<void>((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
}
