import { isBlankCss } from './css-tokens.ts';
import { attribute, type Element, HTML, isHtml, ownText, type Page, SVG, tokens } from './html.ts';
import { loadsOf } from './html-loads.ts';
import { isOwn, isScriptReference, isShelf } from './reference.ts';
import { quote, type Tell } from './tell.ts';

/** Rules that hold for both pages of a machine, the panel and the manual. */
export function judgePage(page: Page, tell: Tell): void {
  const file = page.name;
  const missing = ['html', 'head', 'body'].filter((tag) => !page.own.has(tag)).map((tag) => `<${tag}>`);
  if (!page.elements.some((element) => isTitle(element))) missing.push('a <title> with text');
  if (missing.length > 0) {
    tell(
      'page/document',
      `the page must write its own <html>, <head>, <title> and <body>; missing: ${missing.join(', ')}`,
      {
        file,
        line: 1,
      },
    );
  }
  if (!page.elements.some((element) => isStylesheetLink(element, page))) {
    tell('page/stylesheet', 'the page must link its stylesheet: <link rel="stylesheet" href="machine.css">', {
      file,
      line: 1,
    });
  }
  if (!page.elements.some((element) => isShelfLink(element, page))) {
    tell('page/catalogue-link', 'the page must hold a link back to the shelf: <a href="../../">', { file, line: 1 });
  }
  for (const element of page.dormant.length === 0 ? page.elements : page.elements.concat(page.dormant)) {
    judgeInline(element, page, tell);
    for (const load of loadsOf(element, page)) {
      tell(
        'external/request',
        `${load.what} names something to load from elsewhere: ${quote(load.address)}; a machine may only load its own four files`,
        {
          file,
          line: page.lineOf(element, load.attribute),
        },
      );
    }
  }
}

function isTitle(element: Element): boolean {
  if (!isHtml(element, 'title') || ownText(element).trim() === '') return false;
  return element.parentNode !== null && 'tagName' in element.parentNode && element.parentNode.tagName === 'head';
}

function isStylesheetLink(element: Element, page: Page): boolean {
  if (!isHtml(element, 'link') || attribute(element, 'disabled') !== null) return false;
  const rel = tokens(attribute(element, 'rel'));
  const type = (attribute(element, 'type') ?? '').trim().toLowerCase();
  return (
    rel.includes('stylesheet') &&
    !rel.includes('alternate') &&
    (type === '' || /^text\/css\s*(;|$)/.test(type)) &&
    isOwn(attribute(element, 'href') ?? '', 'machine.css', page.folder, page.base)
  );
}

function isShelfLink(element: Element, page: Page): boolean {
  return linkOf(element) !== null && isShelf(linkOf(element) as string, page.folder, page.base);
}

/** Where a link leads that a visitor can follow; null for what is no link. */
export function linkOf(element: Element): string | null {
  if (isHtml(element, 'a') || isHtml(element, 'area')) return attribute(element, 'href');
  if (element.namespaceURI !== SVG || element.tagName !== 'a') return null;
  return attribute(element, 'href') ?? attribute(element, 'xlink:href');
}

/** What runs or styles from inside the page instead of from the machine's own files. */
function judgeInline(element: Element, page: Page, tell: Tell): void {
  const file = page.name;
  const isKnown = element.namespaceURI === HTML || element.namespaceURI === SVG;
  if (isKnown && element.tagName === 'style' && !isBlankCss(ownText(element))) {
    tell('page/inline-style', 'a <style> element holds rules; move them to machine.css', {
      file,
      line: page.lineOf(element),
    });
  }
  if (isKnown && element.tagName === 'script') judgeScript(element, page, tell);
  for (const attr of element.attrs) {
    const name = attr.prefix ? `${attr.prefix}:${attr.name}` : attr.name;
    const isHandler = /^on[a-z]/.test(name);
    if (!isHandler && !(ADDRESSES.has(name) && isScriptReference(attr.value))) continue;
    const what = isHandler ? `has an ${name} attribute` : `has a javascript: link in ${name}`;
    tell('page/inline-script', `<${element.tagName}> ${what}; listen with addEventListener in machine.js`, {
      file,
      line: page.lineOf(element, name),
    });
  }
}

const ADDRESSES = new Set(['href', 'xlink:href', 'src', 'action', 'formaction', 'data', 'to', 'from', 'by']);

function judgeScript(element: Element, page: Page, tell: Tell): void {
  const file = page.name;
  const line = page.lineOf(element);
  if (file === 'manual.html') {
    tell('page/inline-script', 'the manual holds a <script>; a manual runs no script at all', { file, line });
    return;
  }
  const source =
    element.namespaceURI === SVG
      ? (attribute(element, 'href') ?? attribute(element, 'xlink:href'))
      : attribute(element, 'src');
  if ((source ?? '').trim() === '') {
    tell('page/inline-script', 'a <script> has no src; move what it holds to machine.js', { file, line });
  } else if (/^[\u0000- ]*data:/i.test(source as string)) {
    tell('page/inline-script', 'a <script> carries its code in a data: address; move it to machine.js', { file, line });
  }
}
