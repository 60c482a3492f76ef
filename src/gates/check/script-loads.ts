import type * as ast from 'acorn';
import { beginsElsewhere, isElsewhere, srcsetAddresses } from './reference.ts';
import { isPlain, type Script } from './script-parse.ts';
import { type Known, memberName, propertiesOf, textsOf } from './script-values.ts';

/** Something a script would ask for outside the machine's folder. */
export interface ScriptLoad {
  what: string;
  address: string;
  offset: number;
}

type Expression = ast.Expression | ast.SpreadElement | ast.Super | ast.PrivateIdentifier;

const WINDOWS = new Set(['window', 'self', 'globalThis', 'frames', 'top', 'parent']);
const FUNCTIONS = new Set(['fetch', 'importScripts']);
const CONSTRUCTORS = new Set([
  'WebSocket',
  'EventSource',
  'Worker',
  'SharedWorker',
  'Audio',
  'Request',
  'WebTransport',
]);
/** Methods whose first argument is asked for, whatever they are called on. */
const METHODS = new Set(['sendBeacon', 'addModule']);
const SOURCES = new Set(['src', 'srcset', 'poster']);
const VERBS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Everything a script names to load from elsewhere. */
export function loadsOfScript(script: Script, folder: string): ScriptLoad[] {
  const loads: ScriptLoad[] = [];
  const ask = (what: string, value: Expression | undefined, offset: number, isList = false) => {
    const found = textsOf(value, script).find((known) => isRequestElsewhere(known, folder, isList));
    if (found) loads.push({ what, address: found.whole ? found.text : `${found.text}…`, offset });
  };
  for (const { source, start } of script.imports) ask('import()', source, start);
  for (const call of script.calls) {
    const [first, second] = call.arguments;
    const name = globalName(call.callee, script);
    if (name !== null && (call.type === 'NewExpression' ? CONSTRUCTORS : FUNCTIONS).has(name)) {
      const isRequest = first?.type === 'NewExpression' && globalName(first.callee, script) === 'Request';
      if (!isRequest) ask(call.type === 'NewExpression' ? `new ${name}()` : `${name}()`, first, call.start);
    }
    if (call.type === 'NewExpression' || call.callee.type !== 'MemberExpression') continue;
    const method = memberName(call.callee, script) ?? '';
    const called = globalName(call.callee.object, script);
    if (METHODS.has(method)) ask(`${method}()`, first, call.start);
    else if (method === 'open' && isVerb(first, script)) ask('XMLHttpRequest.open()', second, call.start);
    else if ((method === 'call' || method === 'apply') && called !== null && FUNCTIONS.has(called)) {
      const given =
        second?.type === 'ArrayExpression' && method === 'apply' ? (second.elements[0] ?? undefined) : second;
      ask(`${called}()`, given, call.start);
    } else if (method === 'setAttribute' || method === 'setAttributeNS') {
      const [key, value] = method === 'setAttribute' ? [first, second] : [second, call.arguments[2]];
      const attribute = textsOf(key, script)[0]?.text.toLowerCase() ?? '';
      if (SOURCES.has(attribute)) ask(`${method}('${attribute}')`, value, call.start, attribute === 'srcset');
    } else if (method === 'assign' && called === 'Object') {
      for (const given of call.arguments.slice(1)) {
        if (given.type !== 'ObjectExpression') continue;
        for (const source of SOURCES) {
          for (const value of propertiesOf(given, source)) ask(`.${source}`, value, value.start, source === 'srcset');
        }
      }
    }
  }
  for (const { left, right, operator, start } of script.assignments) {
    if (left.type !== 'MemberExpression' || !isPlain(operator)) continue;
    const name = memberName(left, script) ?? '';
    if (SOURCES.has(name)) ask(`.${name}`, right, start, name === 'srcset');
  }
  return loads;
}

function isRequestElsewhere(known: Known, folder: string, isList: boolean): boolean {
  if (!known.whole) return beginsElsewhere(known.text, folder);
  const addresses = isList ? srcsetAddresses(known.text) : [known.text];
  return addresses.some((address) => isElsewhere(address, folder));
}

function isVerb(node: Expression | undefined, script: Script): boolean {
  return textsOf(node, script).some(({ text, whole }) => whole && VERBS.has(text.toUpperCase()));
}

/** Whether an expression is the window, under any of its names. */
export function isWindow(node: Expression, script: Script, depth = 0): boolean {
  if (depth > 8) return false;
  if (node.type === 'ThisExpression') return script.topThis.has(node);
  if (node.type === 'Identifier') {
    const declared = script.declared.get(node.name) ?? 0;
    if (declared === 0) return WINDOWS.has(node.name);
    return declared === 1 && (script.given.get(node.name) ?? []).some((value) => isWindow(value, script, depth + 1));
  }
  if (node.type === 'MemberExpression') {
    return isWindow(node.object, script, depth + 1) && WINDOWS.has(memberName(node, script) ?? '');
  }
  if (node.type === 'LogicalExpression') {
    return isWindow(node.left, script, depth + 1) || isWindow(node.right, script, depth + 1);
  }
  if (node.type === 'ConditionalExpression') {
    return isWindow(node.consequent, script, depth + 1) || isWindow(node.alternate, script, depth + 1);
  }
  return node.type === 'ChainExpression' && isWindow(node.expression, script, depth + 1);
}

/** The name of the browser's own thing that an expression stands for: `fetch`, `window['fetch']`, `const get = fetch`. */
export function globalName(node: Expression, script: Script, depth = 0): string | null {
  if (depth > 8) return null;
  const follow = (next: Expression) => globalName(next, script, depth + 1);
  switch (node.type) {
    case 'Identifier': {
      const declared = script.declared.get(node.name) ?? 0;
      if (declared === 0) return node.name;
      const [value, other] = script.given.get(node.name) ?? [];
      return declared === 1 && value && !other ? follow(value) : null;
    }
    case 'MemberExpression':
      return isWindow(node.object, script) ? memberName(node, script) : null;
    case 'ChainExpression':
      return follow(node.expression);
    case 'SequenceExpression':
      return node.expressions.length > 0 ? follow(node.expressions.at(-1) as ast.Expression) : null;
    case 'CallExpression':
      return node.callee.type === 'MemberExpression' && memberName(node.callee, script) === 'bind'
        ? follow(node.callee.object)
        : null;
    default:
      return null;
  }
}
