import { z } from 'zod';
import { DOMAINS, ERAS } from '../catalogue/vocabulary.ts';
import { bytes, durationMs } from './units.ts';

/**
 * Every setting, its default and what it is for. The same words make docs/configuration.md and the `MACHINERY_*`
 * variables (`console.port` is `MACHINERY_CONSOLE_PORT`), so a setting is told in one place only.
 */

const duration = (preset: string) =>
  z
    .string()
    .refine((text) => durationMs(text) !== null, 'must be a duration such as 90s, 85m, 2h or 30d')
    .default(preset)
    .transform((text) => durationMs(text) as number);

const size = (preset: string) =>
  z
    .string()
    .refine((text) => bytes(text) !== null, 'must be a size such as 500MB or 2GB')
    .default(preset)
    .transform((text) => bytes(text) as number);

const text = () => z.string().trim().min(1, 'must not be blank');
const words = (preset: readonly string[]) =>
  z
    .array(text())
    .min(1, 'must name at least one')
    .default([...preset]);
const group = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).prefault({} as never);

export const PROVIDERS = ['rehearsal', 'openrouter', 'openai', 'anthropic', 'ollama', 'custom'] as const;

export const settings = z.strictObject({
  origin: text()
    .default('.')
    .describe(
      'Where main lives: a git URL, or a path (relative to this file). The default is this repository itself, never its own remote.',
    ),
  branch: text().default('main').describe('The branch that machines land on.'),
  order: text().default('orders/new-machine.yaml').describe('The standing order, relative to this file.'),

  harness: z
    .enum(['builtin', 'zot', 'auto'])
    .default('builtin')
    .describe(
      'What drives the agent. `auto` takes zot where a self-test shows that it passes images to the model, else builtin.',
    ),
  provider: z
    .enum(PROVIDERS)
    .optional()
    .describe(
      'Whose model works. Unset, the rehearsal (a scripted model that needs no key) where nothing leaves the machine; it must be named with a remote origin or a hub dataset.',
    ),
  model: text()
    .optional()
    .describe('The model, as the provider names it. Needed with every provider but the rehearsal.'),
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
    .optional()
    .describe('The address of a `custom` provider, up to and including `/v1`; also replaces a built-in one.'),
  vision: z
    .boolean()
    .default(true)
    .describe('Whether the model takes images. Without it the agent cannot look at what it built.'),
  context: z
    .int()
    .min(8192, 'must be at least 8192')
    .default(131_072)
    .describe('Tokens that the model can hold; the conversation is compacted as it nears them.'),

  time_limit: duration('85m').describe('How long the agent may work in one shift.'),
  agent_grace: duration('20s').describe('Time between asking the agent to stop and ending it.'),
  iterations: z.int().min(1, 'must be at least 1').default(400).describe('Model turns in one session.'),
  tokens: z.int().min(1, 'must be at least 1').optional().describe('Tokens (in and out) that one shift may use.'),
  cost: z
    .number()
    .positive('must be more than 0')
    .optional()
    .describe('Dollars that one shift may cost, where the provider reports cost.'),
  cost_per_day: z
    .number()
    .positive('must be more than 0')
    .optional()
    .describe('Dollars a UTC day may cost; a shift that would start above it is idle.'),
  rework: z
    .int()
    .min(0)
    .max(5)
    .default(2)
    .describe('How often settled work that failed a gate goes back to the agent with the findings.'),
  continuations: z
    .int()
    .min(0)
    .max(20)
    .default(3)
    .describe('How often an unfinished branch is continued before it moves to quarantine.'),
  snapshot_every: duration('5m').describe('How often the work is snapshotted to its branch while the agent works.'),

  sandbox: z
    .enum(['auto', 'bwrap', 'user', 'none'])
    .default('auto')
    .describe('How the agent is confined. With a real provider, `none` must be written here by name.'),
  agent: group({
    user: text().default('machinery-agent').describe('The system user for `sandbox: user`.'),
    pass: z
      .array(text())
      .default([])
      .describe('Names of environment variables that reach the agent beside the built-in list. Never a secret.'),
  }),

  catalogue: group({
    domains: words(DOMAINS).describe('The domains a machine may belong to.'),
    eras: words(ERAS).describe(
      'The eras a machine may belong to. A place is one domain and one era; each is taken once.',
    ),
  }),

  dataset: group({
    hub: group({
      repo: z
        .string()
        .regex(/^[\w.-]+\/[\w.-]+$/, 'must be <owner>/<name>')
        .optional()
        .describe('The hub dataset that rows are shipped to. Unset: rows stay in the local store.'),
      endpoint: z
        .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
        .optional()
        .describe('Another hub that speaks the same protocol.'),
      private: z.boolean().default(false).describe('Whether the dataset is made private when it is created.'),
    }),
    normalised: z.boolean().default(false).describe('Also ship normalised copies of the rows for training tools.'),
  }),

  schedule: text().default('*/30 * * * *').describe('When a shift starts, as a cron expression.'),
  timezone: text().default('UTC').describe('The time zone of the schedule.'),
  stop_grace: duration('60s').describe('How long a stopping factory takes to bring the running shift to a safe end.'),

  console: group({
    host: text()
      .default('127.0.0.1')
      .describe('The address that the control room binds to. Off loopback every page needs the console token.'),
    port: z.int().min(0).max(65_535).default(8484).describe('Its port; 0 takes any free one.'),
    public_url: z
      .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
      .optional()
      .describe('Where people reach the control room; rows and notifications link to it.'),
    allowed_hosts: z
      .array(text())
      .default([])
      .describe('Host names it answers to, beside its own address and that of `public_url`.'),
  }),

  retention: group({
    shifts: duration('90d').describe('How long shift folders are kept.'),
    screenshots: duration('14d').describe('How long screenshots of shifts are kept.'),
    sessions: duration('30d').describe(
      'How long session logs are kept once their rows are shipped and nothing needs them.',
    ),
  }),
  disk_floor: size('1GB').describe('Free space below which no shift starts.'),
  disk_limit: size('1GB').describe(
    'What the agent may write in one run: checkout, session and temporary files together, and any one file. Above it, or with less than half of `disk_floor` left free, the run is ended.',
  ),
  webhooks: z
    .array(z.url({ protocol: /^https?$/, error: 'must be an http(s) address' }))
    .default([])
    .describe('Addresses that are told of red shifts, quarantine and recovery.'),
  publish: group({
    command: text().optional().describe('A shell command that runs in a checked copy of `site/` after a landing.'),
  }),
  git: group({
    name: text().default('Machinery').describe('The author of landed commits.'),
    email: text().default('machinery@localhost').describe('The address in them.'),
  }),
});

export type Settings = z.output<typeof settings>;
