import { createRequire } from 'node:module';
import type * as ast from 'acorn';
import type { Node } from 'acorn';
import { parse } from 'meriyah';

/** What the rules ask of a script, gathered in one walk over its tree. */
export interface Script {
  calls: (ast.CallExpression | ast.NewExpression)[];
  imports: ast.ImportExpression[];
  assignments: ast.AssignmentExpression[];
  /** How often a name is declared anywhere in the script: as a variable, parameter, function or class. */
  declared: Map<string, number>;
  /** What each name is given, where that is a plain `name = value` in a declaration or an assignment. */
  given: Map<string, ast.Expression[]>;
  /** Names declared at the top of a classic script with var or function: these are members of window. */
  global: Set<string>;
  /** `this` outside any function of its own: the window. */
  topThis: Set<Node>;
}

export interface SyntaxFault {
  message: string;
  line: number;
  /** From 1. */
  column: number;
  offset: number;
}

type SourceType = 'script' | 'module';

/** Parses a script; on a syntax error tells where it stops. Too deep a nesting is a syntax error too. */
export function parseScript(text: string, sourceType: SourceType): Script | SyntaxFault {
  try {
    return gather(treeOf(text, sourceType));
  } catch (error) {
    const { message, loc, pos } = error as SyntaxError & { loc?: { line: number; column: number }; pos?: number };
    return {
      message: message.replace(/\s*\(\d+:\d+\)$/, ''),
      line: loc?.line ?? 1,
      column: (loc?.column ?? 0) + 1,
      offset: pos ?? 0,
    };
  }
}

/**
 * A script's tree, in the shape both parsers share (ESTree). Nearly every script parses, and meriyah takes half of acorn's
 * time; what it refuses is acorn's to judge, which knows the newest of the language (meriyah has regular expressions
 * compiled by this process, which may be older than the browser) and whose messages say what it was.
 */
function treeOf(text: string, sourceType: SourceType): ast.Program {
  try {
    const options = { sourceType, lexical: true, webcompat: true, ranges: { start: true } };
    return parse(text, options) as unknown as ast.Program;
  } catch {
    // Loaded only here: hardly a run needs it.
    const acorn = createRequire(import.meta.url)('acorn') as typeof ast;
    return acorn.parse(text, { ecmaVersion: 'latest', sourceType });
  }
}

/** Walks a tree without recursion: no depth of nesting can overflow. The order of what is gathered means nothing. */
function gather(program: ast.Program): Script {
  const script: Script = {
    calls: [],
    imports: [],
    assignments: [],
    declared: new Map(),
    given: new Map(),
    global: new Set(),
    topThis: new Set(),
  };
  // Nodes, and beside each whether `this` is the window there: a flag each, since most of the time is spent here.
  const nodes: Node[] = [program];
  const tops: boolean[] = [true];
  for (let node = nodes.pop(); node; node = nodes.pop()) {
    const top = tops.pop() === true;
    take(node as ast.AnyNode, top, script);
    for (const key in node) {
      const value = (node as unknown as Record<string, unknown>)[key];
      if (typeof value !== 'object' || value === null) continue;
      const within = top && !hasOwnThis(node as ast.AnyNode, key);
      if (Array.isArray(value)) {
        for (const one of value) {
          if (!isBranch(one)) continue;
          nodes.push(one);
          tops.push(within);
        }
      } else if (isBranch(value)) {
        nodes.push(value);
        tops.push(within);
      }
    }
  }
  for (const call of script.calls) giveArguments(script, call);
  for (const statement of program.body) {
    if (statement.type === 'FunctionDeclaration') script.global.add(statement.id.name);
    if (statement.type === 'VariableDeclaration' && statement.kind === 'var') {
      for (const { id } of statement.declarations) for (const name of namesIn(id)) script.global.add(name);
    }
  }
  return script;
}

/** Whether a value is a node to look into. Names and literals are half of all nodes, and nothing is asked of them alone. */
function isBranch(value: unknown): value is Node {
  if (typeof value !== 'object' || value === null) return false;
  const { type } = value as Node;
  return typeof type === 'string' && type !== 'Identifier' && type !== 'Literal' && type !== 'TemplateElement';
}

/** Whether a part of a node has a `this` of its own: a function that is no arrow, a class's field or static block. */
function hasOwnThis(node: ast.AnyNode, key: string): boolean {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'StaticBlock':
      return true;
    case 'PropertyDefinition':
      return key === 'value';
    default:
      return false;
  }
}

/** Notes what the rules may ask of one node. */
function take(node: ast.AnyNode, top: boolean, script: Script): void {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      script.calls.push(node);
      break;
    case 'ImportExpression':
      script.imports.push(node);
      break;
    case 'AssignmentExpression':
      script.assignments.push(node);
      if (node.left.type === 'Identifier' && isPlain(node.operator)) give(script, node.left.name, node.right);
      break;
    case 'VariableDeclarator':
      for (const name of namesIn(node.id)) declare(script, name);
      if (node.id.type === 'Identifier' && node.init) give(script, node.id.name, node.init);
      break;
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      if (node.id && node.type === 'FunctionDeclaration') declare(script, node.id.name);
      for (const parameter of node.params) for (const name of namesIn(parameter)) declare(script, name);
      break;
    case 'ClassDeclaration':
      if (node.id) declare(script, node.id.name);
      break;
    case 'ThisExpression':
      if (top) script.topThis.add(node);
      break;
  }
}

/** Whether an assignment gives the value as it is: `=`, or one of the logical ones. */
export function isPlain(operator: ast.AssignmentOperator): boolean {
  return operator === '=' || operator === '||=' || operator === '&&=' || operator === '??=';
}

function declare(script: Script, name: string): void {
  script.declared.set(name, (script.declared.get(name) ?? 0) + 1);
}

function give(script: Script, name: string, value: ast.Expression): void {
  const values = script.given.get(name);
  if (values) values.push(value);
  else script.given.set(name, [value]);
}
/** A function called where it is written gives its parameters their values: `((root) => { … })(window)`. */
function giveArguments(script: Script, call: ast.CallExpression | ast.NewExpression): void {
  const { callee } = call;
  if (callee.type !== 'FunctionExpression' && callee.type !== 'ArrowFunctionExpression') return;
  callee.params.forEach((parameter, at) => {
    const value = call.arguments[at];
    if (parameter.type === 'Identifier' && value && value.type !== 'SpreadElement') give(script, parameter.name, value);
  });
}

/** The names a pattern binds. Patterns nest no deeper than the parser could follow. */
export function namesIn(pattern: ast.Pattern): string[] {
  const names: string[] = [];
  const queue: (ast.Pattern | null)[] = [pattern];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next === null) continue;
    if (next.type === 'Identifier') names.push(next.name);
    else if (next.type === 'RestElement') queue.push(next.argument);
    else if (next.type === 'AssignmentPattern') queue.push(next.left);
    else if (next.type === 'ArrayPattern') queue.push(...next.elements);
    else if (next.type === 'ObjectPattern') {
      for (const property of next.properties) {
        queue.push(property.type === 'Property' ? property.value : property.argument);
      }
    }
  }
  return names;
}
