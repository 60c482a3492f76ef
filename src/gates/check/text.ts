import type { DefaultTreeAdapterTypes } from 'parse5';
import { declares } from './css-tokens.ts';
import { attribute, type Element, HTML, type Page } from './html.ts';

type TextNode = DefaultTreeAdapterTypes.TextNode;

/** Elements whose content a reader does not see, or sees only where something else fails. */
const UNSEEN = new Set(
  'head title script style template noscript noembed noframes iframe object audio video canvas datalist rp'.split(' '),
);
const UNSEEN_SVG = new Set(['title', 'desc', 'defs', 'metadata', 'symbol', 'script', 'style']);

/** Elements that flow inside a line: no white space comes between one and its neighbours. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q ruby s samp small span strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);

/** Whether an element, with all inside it, is kept from a reader by its own markup. */
export function isHidden(element: Element): boolean {
  if (element.namespaceURI !== HTML) return UNSEEN_SVG.has(element.tagName);
  if (UNSEEN.has(element.tagName) || attribute(element, 'hidden') !== null) return true;
  if (element.tagName === 'dialog' && attribute(element, 'open') === null) return true;
  const style = attribute(element, 'style');
  return style !== null && (declares(style, 'display', 'none') || declares(style, 'visibility', 'hidden'));
}

/** What a reader of a page sees, in order: the elements that are not hidden, and its text. */
export interface Reading {
  elements: Element[];
  text: string;
}

/** Reads a page, or one element of it, as a reader would. Block elements part words; inline ones do not. */
export function read(root: Page['document'] | Element): Reading {
  const elements: Element[] = [];
  const parts: string[] = [];
  const stack: (Page['document'] | Element['childNodes'][number] | string)[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') {
      parts.push(node);
      continue;
    }
    if (node.nodeName === '#text') parts.push((node as TextNode).value);
    else if ('tagName' in node) {
      if (isHidden(node)) continue;
      elements.push(node);
      if (!INLINE.has(node.tagName)) {
        parts.push(' ');
        stack.push(' ');
      }
    }
    if (!('childNodes' in node)) continue;
    for (let at = node.childNodes.length - 1; at >= 0; at -= 1) stack.push(node.childNodes[at] as Element);
  }
  return { elements, text: parts.join('') };
}
