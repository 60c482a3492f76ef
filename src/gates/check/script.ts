import type * as ast from 'acorn';
import { positionsIn } from '../../catalogue/json.ts';
import { folderOf } from './reference.ts';
import { globalName, isWindow, loadsOfScript } from './script-loads.ts';
import { parseScript, type Script } from './script-parse.ts';
import { memberName, propertiesOf, textsOf } from './script-values.ts';
import { quote, type Tell } from './tell.ts';

const FILE = 'machine.js';

/** The rules for `machine.js`. */
export function judgeScript(text: string, slug: string, tell: Tell): void {
  const classic = parseScript(text, 'script');
  let script: Script;
  if ('calls' in classic) script = classic;
  else {
    const where = `line ${classic.line}, column ${classic.column}`;
    const module = parseScript(text, 'module');
    if ('calls' in module || /'import' and 'export' may appear only/.test(classic.message)) {
      tell(
        'script/module',
        `machine.js is written as a module (${where}: ${classic.message}); make it a classic script, one function called at once, with no import or export`,
        { file: FILE, line: classic.line },
      );
    } else {
      tell('script/syntax', `machine.js does not parse: ${classic.message} (${where})`, {
        file: FILE,
        line: classic.line,
      });
    }
    // A module still names what it loads; a text that parses as nothing cannot be asked.
    if (!('calls' in module)) return;
    script = module;
  }
  if (!assignsMachine(script, classic === script)) {
    tell(
      'script/api',
      'nothing assigns window.machine; end the script with window.machine = { name, faults, state, tick, inject, reset }',
      { file: FILE, line: 1 },
    );
  }
  const positionOf = positionsIn(text);
  for (const { what, address, offset } of loadsOfScript(script, folderOf(slug))) {
    tell(
      'external/request',
      `${what} names something to load from elsewhere: ${quote(address)}; a machine asks nobody for anything`,
      {
        file: FILE,
        line: positionOf(offset).line,
      },
    );
  }
}

/** Whether something gives the window a member `machine`, in any of the ways a script can. */
function assignsMachine(script: Script, isClassic: boolean): boolean {
  const isMachine = (node: ast.Node) => isTarget(node, script, isClassic);
  if (isClassic && script.global.has('machine')) return true;
  if (script.assignments.some(({ left }) => targetsOf(left).some(isMachine))) return true;
  return script.calls.some((call) => {
    if (call.callee.type !== 'MemberExpression') return false;
    const owner = globalName(call.callee.object, script);
    const method = memberName(call.callee, script);
    const [target, second] = call.arguments;
    if (!target || !second || !isWindow(target, script)) return false;
    if (owner === 'Object' && method === 'assign') {
      return call.arguments.some(
        (given) => given.type === 'ObjectExpression' && propertiesOf(given, 'machine').length > 0,
      );
    }
    if (owner === 'Object' && method === 'defineProperties') {
      return second.type === 'ObjectExpression' && propertiesOf(second, 'machine').length > 0;
    }
    const defines = (owner === 'Object' || owner === 'Reflect') && method === 'defineProperty';
    if (!defines && !(owner === 'Reflect' && method === 'set')) return false;
    return textsOf(second, script).some(({ text, whole }) => whole && text === 'machine');
  });
}

function isTarget(node: ast.Node, script: Script, isClassic: boolean): boolean {
  const target = node as ast.Pattern;
  if (target.type === 'MemberExpression') {
    return memberName(target, script) === 'machine' && isWindow(target.object, script);
  }
  // An undeclared name that is given a value becomes a member of window, outside strict code.
  return isClassic && target.type === 'Identifier' && target.name === 'machine' && !script.declared.has('machine');
}

/** The places an assignment writes to: one, or all those of a pattern. */
function targetsOf(pattern: ast.Pattern): ast.Pattern[] {
  const targets: ast.Pattern[] = [];
  const queue: (ast.Pattern | null)[] = [pattern];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next === null) continue;
    if (next.type === 'RestElement') queue.push(next.argument);
    else if (next.type === 'AssignmentPattern') queue.push(next.left);
    else if (next.type === 'ArrayPattern') queue.push(...next.elements);
    else if (next.type === 'ObjectPattern') {
      for (const one of next.properties) queue.push(one.type === 'Property' ? one.value : one.argument);
    } else targets.push(next);
  }
  return targets;
}
