import type { Document, LineCounter } from 'yaml';
import type { z } from 'zod';
import { type ErrorCode, FactoryError } from '../support/errors.ts';

/** One mistake in a file a person wrote. `key` is dotted; `line` counts from 1. */
export interface Problem {
  key: string;
  /** The environment variable or the flag the value came from, when it is not the file's. */
  from?: string;
  line?: number;
  told: string;
}

type Path = readonly PropertyKey[];

/** The line a key stands on, or that of the nearest key above it that exists. */
function lineOf(document: Document, lines: LineCounter, path: Path): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const items = (parent as { items?: unknown[] } | null)?.items;
    const last = path[length - 1];
    const item = items?.find((each, index) => {
      const key = (each as { key?: { value?: unknown } }).key;
      return key === undefined ? index === last : key?.value === last;
    }) as { key?: { range?: [number, number, number] }; range?: [number, number, number] } | undefined;
    const range = item?.key?.range ?? item?.range;
    if (range) return lines.linePos(range[0]).line;
  }
  return undefined;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function problem(document: Document | null, lines: LineCounter | null, path: Path, told: string): Problem {
  const line = document && lines ? lineOf(document, lines, path) : undefined;
  return { key: path.map(String).join('.'), ...(line === undefined ? {} : { line }), told };
}

/** zod's issues as problems with the line of each key, what was found and what is allowed. */
export function problemsOf(
  error: z.ZodError,
  document: Document | null,
  lines: LineCounter | null,
  values: unknown = document?.toJS(),
): Problem[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => problem(document, lines, [...issue.path, key], 'is not a key that is known here'));
    }
    const found = issue.path.reduce<unknown>(
      (node, key) => (node as Record<PropertyKey, unknown> | null | undefined)?.[key],
      values,
    );
    const secret = /token|secret|password|webhook|key$/i.test(issue.path.map(String).join('.'));
    const tail =
      found === undefined || found === null || typeof found === 'object' || secret ? '' : ` (found ${shown(found)})`;
    return [problem(document, lines, issue.path, `${issue.message}${tail}`)];
  });
}

/** One error that tells every problem, a line each. */
export function invalid(code: ErrorCode, file: string, problems: Problem[]): FactoryError {
  const told = problems.map(({ key, from, line, told: text }) => {
    if (from !== undefined) return `${from}: ${text}`;
    const place = line === undefined ? file : `${file}:${line}`;
    return key === '' ? `${place}: ${text}` : `${place}: ${key}: ${text}`;
  });
  return new FactoryError(code, {
    message: told.length === 1 ? (told[0] as string) : `${told.length} mistakes\n  ${told.join('\n  ')}`,
    mend: 'Correct what is named and run the command again; docs/configuration.md lists every key.',
    data: { file, problems },
  });
}
