import { type Document, LineCounter, parseDocument } from 'yaml';
import type { ErrorCode } from '../support/errors.ts';
import { invalid } from './problems.ts';

/** A YAML text as its value, with what is needed to tell on which line a key stands. */
export interface Yaml {
  value: unknown;
  document: Document;
  lines: LineCounter;
}

/** Parses YAML that a person wrote. @throws FactoryError with the given code, naming the file and line of each mistake. */
export function parseYaml(text: string, code: ErrorCode, file: string): Yaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems = document.errors.map(({ pos, message }) => ({
    key: '',
    line: lines.linePos(pos[0]).line,
    told: message.split('\n')[0] as string,
  }));
  if (problems.length > 0) throw invalid(code, file, problems);
  try {
    // Aliases are resolved here, so a dangling or an exploding one is found only now.
    return { value: document.toJS({ maxAliasCount: 100 }), document, lines };
  } catch (error) {
    throw invalid(code, file, [{ key: '', told: (error as Error).message }]);
  }
}
