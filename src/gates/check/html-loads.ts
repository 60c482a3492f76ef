import { addressesOf } from './css-tokens.ts';
import { type Element, HTML, type Page, SVG, attribute, isHtml, ownText, tokens } from './html.ts';
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
const LOADING: Record<string, readonly string[]> = {
  src: ['img', 'script', 'iframe', 'frame', 'embed', 'audio', 'video', 'source', 'track', 'bgsound'],
  poster: ['video'],
  data: ['object'],
  background: ['body', 'table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th'],
  action: ['form'],
  formaction: ['button', 'input'],
  href: ['base'],
  lowsrc: ['img'],
};

const ADDRESS_LISTS: Record<string, readonly string[]> = {
  ping: ['a', 'area'],
  attributionsrc: ['a', 'area', 'img', 'script'],
  archive: ['object', 'applet'],
};

const SRCSETS: Record<string, readonly string[]> = { srcset: ['img', 'source'], imagesrcset: ['link'] };

/** SVG attributes that are CSS values and may hold a `url()`. */
const PRESENTATION = new Set(
  'fill stroke filter mask clip-path cursor marker marker-start marker-mid marker-end'.split(' '),
);

/** Everything an element would have loaded from elsewhere. */
export function loadsOf(element: Element, page: Page): Load[] {
  // The greater part of a panel's elements are shapes with plain numbers: nothing below can match those.
  if (element.attrs.length === 0 && element.tagName !== 'style') return [];
  const loads: Load[] = [];
  const add = (name: string, addresses: readonly string[]) => {
    const base = element.tagName === 'base' ? page.folder : page.base;
    for (const address of addresses) {
      if (isElsewhere(address, page.folder, base)) {
        loads.push({ what: `<${element.tagName} ${name}>`, address, attribute: name });
      }
    }
  };
  const isSvg = element.namespaceURI === SVG;
  for (const attr of element.attrs) {
    const name = attr.prefix ? `${attr.prefix}:${attr.name}` : attr.name;
    const { value } = attr;
    if (name === 'style') add(name, addressesOf(value));
    else if (isSvg) add(name, svgAddresses(element, name, value));
    else if (element.namespaceURI === HTML) add(name, htmlAddresses(element, name, value));
  }
  if (element.tagName === 'style') {
    const address = addressesOf(ownText(element)).find((one) => isElsewhere(one, page.folder, page.base));
    if (address !== undefined) loads.push({ what: 'a <style> element', address });
  }
  return loads;
}

function htmlAddresses(element: Element, name: string, value: string): string[] {
  const tag = element.tagName;
  if (LOADING[name]?.includes(tag)) return [value];
  if (SRCSETS[name]?.includes(tag)) return srcsetAddresses(value);
  if (ADDRESS_LISTS[name]?.includes(tag)) return value.split(/[\s,]+/).filter(Boolean);
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
  if (['to', 'from', 'by', 'values'].includes(name)) {
    const target = attribute(element, 'attributeName')?.trim();
    if (target === 'href' || target === 'xlink:href') return value.split(';').map((one) => one.trim());
    if (target !== undefined && PRESENTATION.has(target)) return addressesOf(value);
  }
  return [];
}
