import { addressesOf } from './css-tokens.ts';
import { attribute, type Element, HTML, isHtml, ownText, type Page, SVG, tokens } from './html.ts';
import { isElsewhere, srcsetAddresses } from './reference.ts';

/** Something an element makes a browser ask for outside the machine's folder. */
export interface Load {
  what: string;
  address: string;
  attribute?: string;
}

/** Links that load or connect; the others (canonical, author, license, next…) only say something. */
const LOADING_LINKS = new Set(
  'stylesheet icon apple-touch-icon apple-touch-icon-precomposed mask-icon preload modulepreload prefetch prerender preconnect dns-prefetch manifest pingback'.split(
    ' ',
  ),
);

/** Attributes that load on these elements, or send something (a form, a ping) when they are used. */
const LOADING = new Map<string, readonly string[]>([
  ['src', ['img', 'script', 'iframe', 'frame', 'embed', 'audio', 'video', 'source', 'track', 'bgsound']],
  ['poster', ['video']],
  ['data', ['object']],
  ['background', ['body', 'table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th']],
  ['action', ['form']],
  ['formaction', ['button', 'input']],
  ['href', ['base']],
  ['lowsrc', ['img']],
]);

const ADDRESS_LISTS = new Map<string, readonly string[]>([
  ['ping', ['a', 'area']],
  ['attributionsrc', ['a', 'area', 'img', 'script']],
  ['archive', ['object', 'applet']],
]);

const SRCSETS = new Map<string, readonly string[]>([
  ['srcset', ['img', 'source']],
  ['imagesrcset', ['link']],
]);

/** SVG attributes that are CSS values and may hold a `url()`. */
const PRESENTATION = new Set(
  'fill stroke filter mask clip-path cursor marker marker-start marker-mid marker-end'.split(' '),
);

/** What animates an SVG attribute, which may be one that loads. */
const ANIMATED = ['to', 'from', 'by', 'values'];

/** Every attribute that can load; the greater part of a panel's attributes are plain numbers and none of these. */
const WATCHED = new Set([
  ...LOADING.keys(),
  ...ADDRESS_LISTS.keys(),
  ...SRCSETS.keys(),
  ...PRESENTATION,
  ...ANIMATED,
  'style',
  'content',
  'xlink:href',
]);

const NONE: readonly Load[] = [];

/** Everything an element would have loaded from elsewhere. */
export function loadsOf(element: Element, page: Page): readonly Load[] {
  let loads = NONE;
  const add = (what: string, addresses: readonly string[], name?: string) => {
    const base = element.tagName === 'base' ? page.folder : page.base;
    for (const address of addresses) {
      if (!isElsewhere(address, page.folder, base)) continue;
      loads = [...loads, { what, address, ...(name === undefined ? {} : { attribute: name }) }];
    }
  };
  for (const attr of element.attrs) {
    const name = attr.prefix ? `${attr.prefix}:${attr.name}` : attr.name;
    if (!WATCHED.has(name)) continue;
    add(`<${element.tagName} ${name}>`, addressesOfAttribute(element, name, attr.value), name);
  }
  if (element.tagName === 'style') add('a <style> element', addressesOf(ownText(element)));
  return loads;
}

function addressesOfAttribute(element: Element, name: string, value: string): readonly string[] {
  if (name === 'style') return addressesOf(value);
  if (element.namespaceURI === SVG) return svgAddresses(element, name, value);
  return element.namespaceURI === HTML ? htmlAddresses(element, name, value) : [];
}

function htmlAddresses(element: Element, name: string, value: string): string[] {
  const tag = element.tagName;
  if (LOADING.get(name)?.includes(tag)) return [value];
  if (SRCSETS.get(name)?.includes(tag)) return srcsetAddresses(value);
  if (ADDRESS_LISTS.get(name)?.includes(tag)) return value.split(/[\s,]+/).filter(Boolean);
  if (name === 'src' && tag === 'input') return tokens(attribute(element, 'type'))[0] === 'image' ? [value] : [];
  if (name === 'href' && tag === 'link') {
    return tokens(attribute(element, 'rel')).some((rel) => LOADING_LINKS.has(rel)) ? [value] : [];
  }
  if (name === 'content' && isHtml(element, 'meta') && tokens(attribute(element, 'http-equiv'))[0] === 'refresh') {
    const address = /^[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/is.exec(value);
    return address ? [(address[1] ?? address[2] ?? address[3] ?? '').trim()].filter(Boolean) : [];
  }
  return [];
}

function svgAddresses(element: Element, name: string, value: string): string[] {
  // In SVG every href but a link's loads what it names: use, image, feImage, script, gradients, text paths…
  if (name === 'href' || name === 'xlink:href') return element.tagName === 'a' ? [] : [value];
  if (PRESENTATION.has(name)) return addressesOf(value);
  if (ANIMATED.includes(name)) {
    const target = attribute(element, 'attributeName')?.trim();
    if (target === 'href' || target === 'xlink:href') return value.split(';').map((one) => one.trim());
    if (target !== undefined && PRESENTATION.has(target)) return addressesOf(value);
  }
  return [];
}
