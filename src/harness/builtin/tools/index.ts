import { z } from 'zod';
import { list } from './list.ts';
import { read } from './read.ts';
import { failure, plan, progress, success } from './reflect.ts';
import { shell } from './shell.ts';
import { asToolFailure, type Tool, type ToolContext, ToolFailure, type ToolOutput } from './tool.ts';
import { view } from './view.ts';
import { write } from './write.ts';

/** Below this many tokens of context a few screenshots would crowd out the work, so none are offered. */
const SMALLEST_CONTEXT_FOR_IMAGES = 32_000;

/** How long a call may take that is no command: a file system that hangs must not hold the run. */
const SLOWEST_MS = 60_000;

/** The tools of a run. `view` is left out, not refused, when the model cannot see: what is offered will be tried. */
export function toolsFor(model: { vision: boolean; context: number }): Tool[] {
  const sees = model.vision && model.context >= SMALLEST_CONTEXT_FOR_IMAGES;
  return [read, write, list, shell, ...(sees ? [view] : []), plan, progress, success, failure];
}

/** A tool's arguments as JSON schema, as a provider wants it. */
export function schemaOf({ shape }: Tool): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(shape, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // The bounds zod adds to every integer tell a model nothing; `null` is taken but not asked for.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.anyOf?.length === 2 && (jsonSchema.anyOf[1] as { type?: string }).type === 'null') {
        const [wanted] = jsonSchema.anyOf as [object];
        delete jsonSchema.anyOf;
        Object.assign(jsonSchema, wanted);
      }
    },
  });
  return schema;
}

/**
 * Reads a call's arguments, which are whatever string the model sent.
 * @throws ToolFailure that says what is wrong with them.
 */
export function argumentsOf(tool: Tool, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    throw new ToolFailure(`the arguments are not JSON (${(error as Error).message}); send the call again`);
  }
  const parsed = tool.shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
  throw new ToolFailure(`${tool.name} was not called as it should be: ${problems.join('; ')}`);
}

/** Does one call. @throws ToolFailure, whatever went wrong: the model reads it and the run goes on. */
export async function perform(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<ToolOutput> {
  const work = tool.run?.(args as never, context) ?? Promise.resolve('');
  try {
    const output = await (tool.name === shell.name ? work : within(SLOWEST_MS, work, context.signal));
    return typeof output === 'string' ? { text: output } : output;
  } catch (error) {
    throw asToolFailure(error);
  }
}

async function within<T>(ms: number, work: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ToolFailure(`it took longer than ${ms / 1000} s`)), ms);
    stop = () => reject(new ToolFailure('ended with the run'));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    if (stop) signal.removeEventListener('abort', stop);
  }
}
