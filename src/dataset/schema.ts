import { z } from 'zod';

const count = z.number().int().nonnegative();
const id = z.string().regex(/^\d{8}-\d{6}(-\d+)?$/);
const image = z.string().regex(/^images\/[0-9a-f]{64}\.(png|jpg|gif|webp|bin)$/);
const verdict = z.enum(['success', 'failure', '']);

const part = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), image }),
]);

const toolCall = z.strictObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});

/** One message of a trajectory. */
export const messageSchema = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), type: z.string(), content: z.string() }),
  z.strictObject({ role: z.literal('user'), type: z.string(), content: z.union([z.string(), z.array(part)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    type: z.literal('bot'),
    content: z.string(),
    reasoning: z.string().optional(),
    tool_calls: z.array(toolCall).min(1).optional(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    type: z.literal('activity'),
    content: z.string(),
    tool_call_id: z.string(),
    name: z.string(),
  }),
]);

const outcome = z.looseObject({ reason: z.string() });

const machinery = z.strictObject({
  repository: z.string(),
  run: z.string(),
  commit: z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})?$/),
  outcome: z.string(),
  catalogue_check: verdict,
  probe: verdict,
  committed: z.boolean(),
  machine: z.looseObject({ slug: z.string() }).nullable(),
  files: z.record(z.string(), z.string()),
  shift: z.looseObject({}).optional(),
});

/** A row's keys beside its conversations, which are checked message by message. */
export const frameSchema = z.strictObject({
  id,
  chain: z.array(id).min(1),
  task: z.string(),
  model: z.string(),
  provider: z.string(),
  driver: z.string(),
  workdir: z.string().optional(),
  started: z.string(),
  ended: z.string(),
  outcome: outcome.optional(),
  complete: z.boolean(),
  truncated: z.literal(true).optional(),
  images: z.array(image).min(1).optional(),
  events: z.record(z.string(), count).optional(),
  machinery: machinery.optional(),
});

/** The whole row, as published in docs/row.schema.json. */
export function rowJsonSchema(): object {
  const row = frameSchema.extend({
    messages: z.array(messageSchema),
    snapshots: z.array(z.array(messageSchema)).min(1).optional(),
  });
  const { $schema, ...schema } = z.toJSONSchema(row);
  return { $schema, title: 'A row of the machinery sessions dataset', ...schema };
}
