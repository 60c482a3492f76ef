import type * as ast from 'acorn';
import type { Script } from './script-parse.ts';

/** What an expression's value is known to be, or to begin with, without running anything. */

/** A text that is known from its beginning; `whole` when it is known to the end too. */
export interface Known {
  text: string;
  whole: boolean;
}

type Expression = ast.Expression | ast.SpreadElement | ast.PrivateIdentifier | ast.Super;

/** How far names and operators are followed; scripts that go further are left to the browser. */
const DEEPEST = 24;
const MOST = 16;

const NOTHING: Known = { text: '', whole: false };

/** The texts an expression may have: one for each branch or assignment that could reach it. */
export function textsOf(node: Expression | undefined, script: Script, depth = 0): Known[] {
  if (!node || depth > DEEPEST) return [NOTHING];
  const follow = (next: Expression | undefined) => textsOf(next, script, depth + 1);
  switch (node.type) {
    case 'Literal':
      return [
        node.value === null || typeof node.value === 'object' ? NOTHING : { text: String(node.value), whole: true },
      ];
    case 'TemplateLiteral':
      return joined(interleaved(node), script, depth);
    case 'TaggedTemplateExpression':
      return isMember(node.tag, 'String', 'raw') ? joined(interleaved(node.quasi, true), script, depth) : [NOTHING];
    case 'BinaryExpression':
      return node.operator === '+' ? joined(terms(node), script, depth) : [NOTHING];
    case 'ConditionalExpression':
      return [...follow(node.consequent), ...follow(node.alternate)].slice(0, MOST);
    case 'LogicalExpression':
      return [...follow(node.left), ...follow(node.right)].slice(0, MOST);
    case 'SequenceExpression':
      return follow(node.expressions.at(-1));
    case 'AssignmentExpression':
      return node.operator === '=' ? follow(node.right) : [NOTHING];
    case 'Identifier': {
      // A name that is declared twice may be another one here.
      if ((script.declared.get(node.name) ?? 0) !== 1) return [NOTHING];
      const values = script.given.get(node.name)?.slice(0, MOST) ?? [];
      return values.flatMap((value) => follow(value)).slice(0, MOST);
    }
    case 'ChainExpression':
      return follow(node.expression);
    case 'CallExpression':
      return textOfCall(node, script, depth);
    case 'NewExpression':
      return node.callee.type === 'Identifier' && ['URL', 'Request'].includes(node.callee.name)
        ? [...follow(node.arguments[0]), ...(node.arguments[1] ? follow(node.arguments[1]) : [])]
        : [NOTHING];
    case 'MemberExpression':
      return memberName(node, script) === 'href' ? follow(node.object) : propertyTexts(node, script, depth);
    default:
      return [NOTHING];
  }
}

/** `String(x)`, `x.toString()`, `x.trim()`, `'a'.concat(b)`: what begins with what it is called on. */
function textOfCall(node: ast.CallExpression, script: Script, depth: number): Known[] {
  const { callee } = node;
  if (callee.type === 'Identifier' && ['String', 'encodeURI', 'decodeURI'].includes(callee.name)) {
    return textsOf(node.arguments[0], script, depth + 1);
  }
  if (callee.type !== 'MemberExpression') return [NOTHING];
  const name = memberName(callee, script);
  if (name === 'concat') return joined([callee.object, ...node.arguments], script, depth);
  if (['toString', 'valueOf', 'trim', 'toLowerCase'].includes(name ?? ''))
    return textsOf(callee.object, script, depth + 1);
  return [NOTHING];
}

/** `PLACES.api` where `const PLACES = { api: '…' }`. */
function propertyTexts(node: ast.MemberExpression, script: Script, depth: number): Known[] {
  const name = memberName(node, script);
  if (name === null || node.object.type !== 'Identifier') return [NOTHING];
  if ((script.declared.get(node.object.name) ?? 0) !== 1) return [NOTHING];
  const found = (script.given.get(node.object.name) ?? []).flatMap((value) =>
    value.type === 'ObjectExpression' ? propertiesOf(value, name) : [],
  );
  return found.length === 0 ? [NOTHING] : found.flatMap((value) => textsOf(value, script, depth + 1)).slice(0, MOST);
}

/** The values an object literal gives to a property. */
export function propertiesOf(object: ast.ObjectExpression, name: string): ast.Expression[] {
  return object.properties.flatMap((property) => {
    if (property.type !== 'Property' || property.kind !== 'init') return [];
    const { key } = property;
    const own =
      key.type === 'Literal' ? String(key.value) : key.type === 'Identifier' && !property.computed ? key.name : '';
    return own === name ? [property.value] : [];
  });
}

/** The name a member expression asks for, when it is known: `a.b`, `a['b']`, a[`b`]. */
export function memberName(node: ast.MemberExpression, script: Script): string | null {
  if (!node.computed) return node.property.type === 'Identifier' ? node.property.name : null;
  const [text, other] = textsOf(node.property, script, DEEPEST - 2);
  return text?.whole && !other ? text.text : null;
}

function isMember(node: Expression, object: string, property: string): boolean {
  return (
    node.type === 'MemberExpression' &&
    node.object.type === 'Identifier' &&
    node.object.name === object &&
    node.property.type === 'Identifier' &&
    node.property.name === property
  );
}

/** The parts of a template in order: its fixed texts as literals between its expressions. */
function interleaved(node: ast.TemplateLiteral, raw = false): (Expression | string)[] {
  return node.quasis.flatMap((quasi, at) => {
    const text = raw ? quasi.value.raw : (quasi.value.cooked ?? '');
    const next = node.expressions[at];
    return next ? [text, next] : [text];
  });
}

/** The terms of a sum from the left. A long sum leans to the left, so that side is walked and not recursed into. */
function terms(node: ast.BinaryExpression): Expression[] {
  const out: Expression[] = [];
  let left: Expression = node;
  while (left.type === 'BinaryExpression' && left.operator === '+') {
    out.push(left.right);
    left = left.left;
  }
  out.push(left);
  return out.reverse();
}

/** Puts parts one after another for as long as each is known to its end. */
function joined(parts: readonly (Expression | string)[], script: Script, depth: number): Known[] {
  let known: Known[] = [{ text: '', whole: true }];
  for (const part of parts) {
    if (!known.some(({ whole }) => whole)) break;
    const next = typeof part === 'string' ? [{ text: part, whole: true }] : textsOf(part, script, depth + 1);
    known = known
      .flatMap((one) => (one.whole ? next.map(({ text, whole }) => ({ text: one.text + text, whole })) : [one]))
      .slice(0, MOST);
  }
  return known;
}
