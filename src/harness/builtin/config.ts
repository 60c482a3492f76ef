import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { FactoryError } from '../../support/errors.ts';

const count = (standard: number) => z.int().min(1).default(standard);
const ms = (standard: number) => z.int().min(0).default(standard);

/** What a run of the built-in agent is told beside its order: where the model is, and its limits. */
export const agentConfigSchema = z.strictObject({
  model: z.strictObject({
    /** The real provider's name; the log's and so the row's. */
    provider: z.string().min(1),
    model: z.string().min(1),
    /** Chat completions are at `<baseUrl>/chat/completions`. */
    baseUrl: z.url(),
    token: z.string().default(''),
    vision: z.boolean().default(false),
    /** Tokens the model's context holds. */
    context: z.int().min(1000).default(131_072),
  }),
  limits: z
    .strictObject({
      timeMs: z.int().min(1).optional(),
      /** Model turns. */
      iterations: count(1000),
      /** Tool calls. */
      calls: count(5000),
      /** Tokens in and out, as the provider counts them. */
      tokens: z.int().min(1).optional(),
      /** Where the provider reports what it costs. */
      dollars: z.number().positive().optional(),
    })
    .prefault({}),
  guards: z
    .strictObject({
      /** Attempts in a row to get a whole answer, after a failure or a cut-off one. */
      retries: count(20),
      /** Such attempts in the whole run: a provider that answers now and then is broken too. */
      allRetries: count(200),
      /** The first wait after a failure; each one after doubles, up to 30 s. */
      retryBaseMs: ms(1000),
      /** A provider that sends nothing for this long has failed. */
      idleMs: ms(300_000),
      /** Turns in a row with nothing in them. */
      empties: count(3),
      /** Answers without a tool call, in the whole run. */
      settles: count(20),
      /** Warnings in a row about a repetition. */
      cycles: count(2),
    })
    .prefault({}),
});

export type AgentConfig = z.infer<typeof agentConfigSchema>;

/**
 * Reads a run's configuration file (JSON or YAML).
 * @throws FactoryError `config/invalid`; it never holds the token.
 */
export async function readAgentConfig(path: string): Promise<AgentConfig> {
  const refuse = (message: string) =>
    new FactoryError('config/invalid', {
      message: `the agent's configuration ${path} cannot be used: ${message}`,
      mend: 'Give a file with `model: {provider, model, baseUrl, token}`; docs/harnesses.md lists every key.',
      data: { file: path },
    });
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'), { logLevel: 'silent' });
  } catch (error) {
    // Only the first line: what follows quotes the file, and so perhaps the token.
    throw refuse((error as Error).message.split('\n')[0] ?? 'it cannot be read');
  }
  const parsed = agentConfigSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refuse(parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`).join('; '));
}
