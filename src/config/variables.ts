import { z } from 'zod';
import { settings } from './schema.ts';

interface Node {
  type?: string;
  properties?: Record<string, Node>;
  description?: string;
  default?: unknown;
  enum?: string[];
  anyOf?: Node[];
}

/** One setting as the schema tells it. `kind` says how the text of an environment variable becomes its value. */
export interface Setting {
  /** Dotted, as in factory.yaml. */
  key: string;
  variable: string;
  kind: 'text' | 'number' | 'boolean' | 'list';
  about: string;
  preset: unknown;
  allowed?: string[];
}

const KINDS: Record<string, Setting['kind']> = {
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
};

function walk(node: Node, path: string[]): Setting[] {
  if (node.properties) return Object.entries(node.properties).flatMap(([key, child]) => walk(child, [...path, key]));
  return [
    {
      key: path.join('.'),
      variable: `MACHINERY_${path.join('_').toUpperCase()}`,
      kind: KINDS[node.type ?? ''] ?? 'text',
      about: node.description ?? '',
      preset: node.default,
      ...(node.enum ? { allowed: node.enum } : {}),
    },
  ];
}

/** Every setting, in the order of the schema. */
export function listSettings(): Setting[] {
  return walk(z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' }) as Node, []);
}

/** The value of a variable's text; text that does not fit its kind is kept, so that the schema tells what is wrong. */
export function settingValue(setting: Setting, text: string): unknown {
  if (setting.kind === 'list')
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  if (setting.kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (setting.kind === 'boolean' && /^(true|false)$/i.test(text.trim())) return /^true$/i.test(text.trim());
  return text;
}
