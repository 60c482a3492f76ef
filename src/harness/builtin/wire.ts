import type {
  JSONValue,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
} from '@ai-sdk/provider';
import type { SessionActivity, SessionImage, SessionMessage } from '../../session/types.ts';

/** Finds an image's bytes as base64; null when they are lost. */
type ImageSource = (image: SessionImage) => Promise<string | null>;

/** What stands for the opening message where compaction took it: several providers refuse a talk the user does not begin. */
const OPENING = 'Continue your task from the summary above.';

export interface Wire {
  /** Where images come from; null for a model without vision, which gets their text only. */
  see: ImageSource | null;
  /** Whether the model's reasoning is sent back: most providers refuse it, a few refuse to go on without it. */
  reasoning: boolean;
}

/**
 * Renders the conversation as a provider takes it. Each call is followed by its result, as in the trajectory, so what the
 * model is sent is what a row's reader sees.
 */
export async function promptOf(
  instructions: string,
  conversation: readonly SessionMessage[],
  wire: Wire,
): Promise<LanguageModelV3Prompt> {
  const prompt: LanguageModelV3Prompt = [{ role: 'system', content: instructions }];
  const answered = new Set(
    conversation.flatMap(({ activity }) => (activity?.kind === 'response' ? [activity.id] : [])),
  );
  let opened = false;
  for (const message of conversation) {
    const told = await render(message, wire, answered);
    if (!told) continue;
    if (!opened && told.role !== 'system') {
      if (told.role !== 'user') prompt.push({ role: 'user', content: [{ type: 'text', text: OPENING }] });
      opened = true;
    }
    const last = prompt.at(-1);
    // Reasoning, text and the call after them are one turn of the assistant.
    const open = last?.role === 'assistant' && last.content.at(-1)?.type !== 'tool-call';
    if (open && told.role === 'assistant') {
      prompt[prompt.length - 1] = { ...told, content: [...last.content, ...told.content] };
    } else prompt.push(told);
  }
  return prompt;
}

async function render(
  message: SessionMessage,
  { see, reasoning }: Wire,
  answered: Set<string | undefined>,
): Promise<LanguageModelV3Message | null> {
  const { type, text, activity } = message;
  if (type === 'reasoning') return reasoning ? { role: 'assistant', content: [{ type: 'reasoning', text }] } : null;
  if (type === 'instructions' || type === 'checkpoint') return { role: 'system', content: text };
  if (type === 'bot') return { role: 'assistant', content: [{ type: 'text', text }] };
  if (type === 'activity') {
    if (!activity?.id || !answered.has(activity.id)) return null;
    if (activity.kind === 'request') return request(activity);
    if (activity.kind === 'response') return response(activity);
  }
  const images = see ? await filesOf(message.images ?? [], see) : [];
  return { role: 'user', content: [{ type: 'text', text }, ...images] };
}

function request(activity: SessionActivity): LanguageModelV3Message {
  const { id = '', name = '', arguments: args = '', reasoning_details: details } = activity;
  return {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: id, toolName: name, input: sendable(args) }],
    ...(details ? { providerOptions: { openaiCompatible: { reasoning_details: details as JSONValue } } } : {}),
  };
}

/** The model's own string where it is a JSON object. Providers refuse a talk with any other arguments in it, for ever. */
function sendable(args: string): unknown {
  try {
    const value: unknown = JSON.parse(args);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return args;
  } catch {}
  return args.trim() === '' ? {} : { unreadable: args };
}

function response({ id = '', name = '', result, failure }: SessionActivity): LanguageModelV3Message {
  const value = failure || (typeof result === 'string' ? result : result == null ? '' : JSON.stringify(result));
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'text', value } }],
  };
}

async function filesOf(images: SessionImage[], see: ImageSource): Promise<LanguageModelV3FilePart[]> {
  const parts: LanguageModelV3FilePart[] = [];
  for (const image of images) {
    const data = await see(image);
    if (data === null) continue;
    const { media_type: mediaType, detail } = image;
    // The SDK has no word for the detail, but what is given here replaces what it makes.
    const asked = detail ? { image_url: { url: `data:${mediaType};base64,${data}`, detail } } : null;
    parts.push({ type: 'file', mediaType, data, ...(asked ? { providerOptions: { openaiCompatible: asked } } : {}) });
  }
  return parts;
}
