import { fold } from '../../catalogue/name.ts';
import { attribute, type Element, isHtml, isInside, type Page } from './html.ts';
import { isOwn } from './reference.ts';
import { quote, type Tell } from './tell.ts';

/** What the rules need of a machine's entry: the names its panel and its manual must carry. */
export interface Names {
  controls: readonly string[];
  faults: readonly string[];
}

const FILE = 'index.html';

/** The rules for `index.html` alone. */
export function judgePanel(page: Page, names: Names, tell: Tell): void {
  judgeScriptTag(page, tell);
  judgeManual(page, tell);
  const controls = marked(page, 'data-control', 'panel/control', names.controls, tell);
  marked(page, 'data-fault', 'panel/fault', names.faults, tell);
  judgeKinds(controls, names.controls, tell);
}

/** JavaScript's media types: https://mimesniff.spec.whatwg.org/#javascript-mime-type */
const CLASSIC_TYPE =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript))$/;

function judgeScriptTag(page: Page, tell: Tell): void {
  const tags = page.elements.filter(
    (element) =>
      isHtml(element, 'script') && isOwn(attribute(element, 'src') ?? '', 'machine.js', page.folder, page.base),
  );
  const right = 'the panel must load it as <script src="machine.js"></script>, last in the body, or with defer';
  const [tag] = tags;
  if (!tag) {
    tell('panel/script', `machine.js is not loaded; ${right}`, { file: FILE, line: 1 });
    return;
  }
  const faults = tags.map((one) => scriptFault(one, page));
  if (faults.includes(null)) return;
  tell('panel/script', `${faults[0]}; ${right}`, { file: FILE, line: page.lineOf(tag) });
}

function scriptFault(tag: Element, page: Page): string | null {
  const type = (attribute(tag, 'type') ?? '').trim().toLowerCase();
  if (type !== '' && !CLASSIC_TYPE.test(type))
    return `machine.js is loaded with type ${quote(type)}, not as a classic script`;
  if (attribute(tag, 'nomodule') !== null) return 'machine.js is loaded with nomodule, so no browser of today runs it';
  if (attribute(tag, 'async') === null && attribute(tag, 'defer') !== null) return null;
  const body = page.elements.find((element) => isHtml(element, 'body'));
  const last = body?.childNodes.filter((child): child is Element => 'tagName' in child).at(-1);
  if (tag === last) return null;
  return attribute(tag, 'async') === null
    ? 'machine.js is loaded before the end of the body, when the panel is not there yet'
    : 'machine.js is loaded with async, so it may run before the panel is there';
}

function judgeManual(page: Page, tell: Tell): void {
  const dialogs = page.elements.filter(
    (element) => isHtml(element, 'dialog') && attribute(element, 'data-manual') !== null,
  );
  const frames = page.elements.filter(
    (element) =>
      isHtml(element, 'iframe') && isOwn(attribute(element, 'src') ?? '', 'manual.html', page.folder, page.base),
  );
  const [dialog] = dialogs;
  if (!dialog) {
    tell('panel/manual', 'no <dialog data-manual>; the manual opens in one that holds <iframe src="manual.html">', {
      file: FILE,
      line: 1,
    });
  } else if (!frames.some((frame) => isInside(frame, new Set(dialogs)))) {
    tell('panel/manual', 'the <dialog data-manual> does not hold an <iframe src="manual.html">', {
      file: FILE,
      line: page.lineOf(dialog),
    });
  }
  for (const action of ['manual', 'close-manual']) {
    if (page.elements.some((element) => attribute(element, 'data-action') === action)) continue;
    const does = action === 'manual' ? 'opens the manual' : 'closes the manual, inside its dialog';
    tell('panel/manual', `no element with data-action="${action}"; a button with it ${does}`, { file: FILE, line: 1 });
  }
}

/** Finds the element of each name; a name without one is told. @returns the elements found, by folded name. */
function marked(
  page: Page,
  name: 'data-control' | 'data-fault',
  rule: 'panel/control' | 'panel/fault',
  wanted: readonly string[],
  tell: Tell,
): Map<string, Element> {
  const found = new Map<string, Element>();
  const there: string[] = [];
  for (const element of page.elements) {
    const value = attribute(element, name);
    if (value === null) continue;
    there.push(value);
    if (!found.has(fold(value))) found.set(fold(value), element);
  }
  for (const one of wanted) {
    if (found.has(fold(one))) continue;
    const others =
      there.length === 0
        ? `none has ${name} at all`
        : `there are ${there
            .slice(0, 12)
            .map((value) => quote(value))
            .join(', ')}`;
    tell(rule, `no element has ${name}=${JSON.stringify(one)}, which the entry lists; ${others}`, {
      file: FILE,
      line: 1,
    });
  }
  return found;
}

function judgeKinds(found: Map<string, Element>, wanted: readonly string[], tell: Tell): void {
  const kinds = new Set<string>();
  let missing = 0;
  for (const name of wanted) {
    const element = found.get(fold(name));
    if (element) kinds.add(kindOf(element));
    else missing += 1;
  }
  // A control that is not there yet may still bring a kind of its own.
  if (wanted.length === 0 || kinds.size + missing >= 3) return;
  tell(
    'panel/control-kinds',
    `the controls are of only ${kinds.size} kind${kinds.size === 1 ? '' : 's'} (${[...kinds].join(', ')}); a panel needs three or more, such as a button, a range and a select`,
    { file: FILE, line: 1, severity: 'warning' },
  );
}

/** What kind of control an element is: its name, its type when it is an input, and its role. */
function kindOf(element: Element): string {
  const type = isHtml(element, 'input') ? `[type=${(attribute(element, 'type') || 'text').toLowerCase()}]` : '';
  const role = (attribute(element, 'role') ?? '').trim().toLowerCase();
  return `${element.tagName}${type}${role === '' ? '' : `[role=${role}]`}`;
}
