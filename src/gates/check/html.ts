import { type DefaultTreeAdapterMap, type DefaultTreeAdapterTypes, html as names, Parser } from 'parse5';
import type { MachineFile } from '../../catalogue/entry.ts';
import { folderOf, isElsewhere, resolve } from './reference.ts';

export type Element = DefaultTreeAdapterTypes.Element;
type Document = DefaultTreeAdapterTypes.Document;
type Node = DefaultTreeAdapterTypes.Node;
type StartTag = Parameters<Parser<DefaultTreeAdapterMap>['onStartTag']>[0];

export const HTML = names.NS.HTML;
export const SVG = names.NS.SVG;

/** One page of a machine, parsed as a browser would. */
export interface Page {
  name: MachineFile;
  document: Document;
  /** Which of `html`, `head` and `body` the file writes itself; a parser supplies the rest. */
  own: ReadonlySet<string>;
  /** The live elements in document order: what `querySelectorAll('*')` would give. */
  elements: Element[];
  /** Elements a script or an old browser may bring to life: in templates, in noscript, in an iframe's srcdoc. */
  dormant: Element[];
  /** The machine's folder, and what references in this page resolve against (a `<base>` moves it). */
  folder: string;
  base: string;
  /** The line an element, or one of its attributes, is written on; known only when parsed with locations. */
  lineOf(element: Element, attribute?: string): number | undefined;
}

const DOCUMENT_TAGS = new Set(['html', 'head', 'body']);

/** A parser that remembers which of the three document tags it was given and which it had to supply. */
class OwnTagParser extends Parser<DefaultTreeAdapterMap> {
  readonly own = new Set<string>();

  override onStartTag(token: StartTag): void {
    const name = token.tagName;
    const depth = this.openElements.stackTop;
    super.onStartTag(token);
    if (!DOCUMENT_TAGS.has(name)) return;
    // An element that was there already only takes the tag's attributes: then the stack does not grow.
    const current = this.openElements.current as Element | undefined;
    if (this.openElements.stackTop > depth && current?.tagName === name) this.own.add(name);
  }
}

/**
 * Parses a page. Locations cost half as much again, so they are only taken when there is something to say about a line.
 */
export function parsePage(name: MachineFile, text: string, slug: string, located: boolean): Page {
  const parser = new OwnTagParser({ sourceCodeLocationInfo: located });
  parser.tokenizer.write(text, true);
  const folder = folderOf(slug);
  const elements: Element[] = [];
  const dormant: Element[] = [];
  const hosts = new Map<Element, Element>();
  collect(parser.document, { elements, dormant, hosts });
  const href = elements.find((element) => element.tagName === 'base' && attribute(element, 'href') !== null);
  const given = href ? (attribute(href, 'href') as string) : '';
  // A base elsewhere is told by itself; judging every other reference by it would bury that.
  const base = href && !isElsewhere(given, folder) ? (resolve(given, folder)?.href ?? folder) : folder;
  return {
    name,
    document: parser.document,
    own: parser.own,
    elements,
    dormant,
    folder,
    base,
    lineOf: (element, attributeName) => {
      const place = (hosts.get(element) ?? element).sourceCodeLocation;
      return (attributeName === undefined ? undefined : place?.attrs?.[attributeName]?.startLine) ?? place?.startLine;
    },
  };
}

/** How deep pages are looked for inside pages: real ones have one level, and a hostile one must not go on for ever. */
const INNER_LEVELS = 4;

interface Collection {
  elements: Element[];
  dormant: Element[];
  /** For an element of an inner page, the element of the outer one that holds it. */
  hosts: Map<Element, Element>;
}

/** Puts a tree's elements in lists, in document order and without recursion: no depth of nesting can overflow. */
function collect(root: Node, into: Collection, level = 0, host?: Element): void {
  const stack: { node: Node; live: boolean }[] = [{ node: root, live: level === 0 }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, live } = next;
    if ('tagName' in node) {
      (live ? into.elements : into.dormant).push(node);
      if (host) into.hosts.set(node, host);
      if ('content' in node) stack.push({ node: node.content, live: false });
      const inner = innerMarkup(node);
      if (inner !== '' && level < INNER_LEVELS) {
        const document = Parser.parse<DefaultTreeAdapterMap>(inner, { scriptingEnabled: false });
        collect(document, into, level + 1, host ?? node);
      }
    }
    if (!('childNodes' in node)) continue;
    for (let at = node.childNodes.length - 1; at >= 0; at -= 1) {
      const child = node.childNodes[at] as Node;
      if ('tagName' in child) stack.push({ node: child, live });
    }
  }
}

function innerMarkup(element: Element): string {
  if (element.namespaceURI !== HTML) return '';
  if (element.tagName === 'iframe') return attribute(element, 'srcdoc') ?? '';
  return element.tagName === 'noscript' ? ownText(element) : '';
}

/** An attribute's value, or null. Foreign attributes are asked for with their prefix: `xlink:href`. */
export function attribute(element: Element, name: string): string | null {
  for (const attr of element.attrs) {
    if ((attr.prefix ? `${attr.prefix}:${attr.name}` : attr.name) === name) return attr.value;
  }
  return null;
}

export function isHtml(element: Element, tag: string): boolean {
  return element.tagName === tag && element.namespaceURI === HTML;
}

/** The text directly inside an element. */
export function ownText(element: Element): string {
  return element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
}

/** Whether an element stands somewhere inside one of these. */
export function isInside(element: Element, ancestors: ReadonlySet<Node>): boolean {
  for (let node: Node | null = element.parentNode; node; node = 'parentNode' in node ? node.parentNode : null) {
    if (ancestors.has(node)) return true;
  }
  return false;
}

/** White-space separated words of an attribute, in lower case. */
export function tokens(value: string | null): string[] {
  return (value ?? '')
    .toLowerCase()
    .split(/[\t\n\f\r ]+/)
    .filter(Boolean);
}
