import type * as ast from 'acorn';
import { type Node, type Options, Parser, type TokenType, tokTypes } from 'acorn';

/** What the rules ask of a script, gathered while it is parsed: no second walk, and no recursion of our own. */
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

/** acorn's own record of the function it stands in; see `Scope` in acorn/src/scope.js. */
interface Scopes {
  currentThisScope(): { flags: number };
}
const TOP_SCOPE = 1;

/** Parses a script; on a syntax error tells where it stops. Too deep a nesting is a syntax error too. */
export function parseScript(text: string, sourceType: 'script' | 'module'): Script | SyntaxFault {
  const script: Script = {
    calls: [],
    imports: [],
    assignments: [],
    declared: new Map(),
    given: new Map(),
    global: new Set(),
    topThis: new Set(),
  };
  try {
    gathering = { script, functions: [], declarators: [] };
    const program = (Gatherer as unknown as typeof Parser).parse(text, { ecmaVersion: 'latest', sourceType });
    settle(gathering, program as ast.Program);
    return script;
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

/** What is gathered for the script that is being parsed. */
interface Gathering {
  script: Script;
  functions: ast.Function[];
  declarators: ast.VariableDeclarator[];
}

let gathering: Gathering;

/** The parts of acorn's parser that are ours to extend, as its plugins do. */
interface InnerParser {
  lastTokEnd: number;
  finishNode(node: Node, type: string): Node;
  readWord1(): string;
  finishToken(type: TokenType, word: string): void;
  checkUnreserved(word: { name: string }): void;
}

const KEYWORDS = new Map(
  Object.values(tokTypes as unknown as Record<string, TokenType>).map((one) => [one.keyword, one] as const),
);

/** Every word that acorn may have something against as a name. A script has thousands of names and few are of these. */
const SPECIAL = new Set(
  `arguments async await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null of package private protected public return
  static super switch this throw true try typeof undefined var void while with yield`.split(/\s+/),
);

/**
 * acorn's plugin interface: a subclass of its parser, whose `finishNode` closes every node. One class for all scripts, since
 * a class for each would be compiled anew for each.
 */
class Gatherer extends (Parser as unknown as new (options: Options, input: string) => InnerParser) {
  override finishNode(node: Node, type: string): Node {
    // What acorn does where neither locations nor ranges are asked for; this is its busiest function.
    node.type = type;
    node.end = this.lastTokEnd;
    switch (type) {
      case 'CallExpression':
      case 'NewExpression':
        gathering.script.calls.push(node as ast.CallExpression);
        break;
      case 'ImportExpression':
        gathering.script.imports.push(node as ast.ImportExpression);
        break;
      case 'AssignmentExpression':
        gathering.script.assignments.push(node as ast.AssignmentExpression);
        break;
      case 'VariableDeclarator':
        gathering.declarators.push(node as ast.VariableDeclarator);
        break;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        gathering.functions.push(node as ast.Function);
        break;
      case 'ClassDeclaration':
        if ((node as ast.ClassDeclaration).id) declare(gathering.script, (node as ast.ClassDeclaration).id.name);
        break;
      case 'ThisExpression':
        if ((this as unknown as Scopes).currentThisScope().flags & TOP_SCOPE) gathering.script.topThis.add(node);
        break;
    }
    return node;
  }

  /** As acorn reads a word, with a look into a map where acorn tries an expression of forty words. */
  readWord(): void {
    const word = this.readWord1();
    this.finishToken(KEYWORDS.get(word) ?? tokTypes.name, word);
  }

  override checkUnreserved(word: { name: string }): void {
    if (SPECIAL.has(word.name)) super.checkUnreserved(word);
  }
}

function declare(script: Script, name: string): void {
  script.declared.set(name, (script.declared.get(name) ?? 0) + 1);
}

function give(script: Script, name: string, value: ast.Expression): void {
  const values = script.given.get(name);
  if (values) values.push(value);
  else script.given.set(name, [value]);
}

/** What is only known once all is parsed: an assignment may have turned out to be a pattern's default. */
function settle({ script, functions, declarators }: Gathering, program: ast.Program): void {
  script.assignments = script.assignments.filter((node) => node.type === 'AssignmentExpression');
  for (const declarator of declarators) {
    for (const name of namesIn(declarator.id)) declare(script, name);
    if (declarator.id.type === 'Identifier' && declarator.init) give(script, declarator.id.name, declarator.init);
  }
  for (const one of functions) {
    if (one.id && one.type === 'FunctionDeclaration') declare(script, one.id.name);
    for (const parameter of one.params) for (const name of namesIn(parameter)) declare(script, name);
  }
  for (const { left, right, operator } of script.assignments) {
    if (left.type === 'Identifier' && /^(?:\|\||&&|\?\?)?=$/.test(operator)) give(script, left.name, right);
  }
  for (const call of script.calls) giveArguments(script, call);
  for (const statement of program.body) {
    if (statement.type === 'FunctionDeclaration') script.global.add(statement.id.name);
    if (statement.type === 'VariableDeclaration' && statement.kind === 'var') {
      for (const { id } of statement.declarations) for (const name of namesIn(id)) script.global.add(name);
    }
  }
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
