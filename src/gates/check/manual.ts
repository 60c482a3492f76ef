import { fold } from '../../catalogue/name.ts';
import { type Element, isHtml, isInside, type Page } from './html.ts';
import { linkOf } from './page.ts';
import type { Names } from './panel.ts';
import { resolve } from './reference.ts';
import { quote, type Tell } from './tell.ts';
import { read } from './text.ts';

const FILE = 'manual.html';

/** The headings of a manual, in order. */
export const SECTIONS = [
  'Overview',
  'Controls',
  'Normal operation',
  'Alarms',
  'Faults and recovery',
  'Specifications',
] as const;

/** The rules for `manual.html` alone. */
export function judgeManual(page: Page, names: Names, tell: Tell): void {
  const reading = read(page.document);
  const sections = judgeSections(page, reading.elements, tell);
  const inside = (section: (typeof SECTIONS)[number]) => sections.get(section);

  const operation = inside('Normal operation');
  const lists = new Set(operation?.filter((element) => isHtml(element, 'ol')));
  if (operation?.some((element) => isHtml(element, 'li') && isInside(element, lists)) === false) {
    tell('manual/procedure', 'Normal operation must hold its steps as an <ol> with at least one <li>', {
      file: FILE,
      line: 1,
    });
  }
  if (inside('Specifications')?.some((element) => isHtml(element, 'table')) === false) {
    tell('manual/specifications', 'Specifications must hold a <table>', { file: FILE, line: 1 });
  }

  // Most names stand in the text just so; only for one that does not is the whole text folded.
  const plain = reading.text.toLowerCase();
  let folded: string | undefined;
  const isAbsent = (name: string) => {
    if (isNamed(name, plain)) return false;
    folded ??= fold(reading.text);
    return !isNamed(name, folded);
  };
  const absent = (wanted: readonly string[]) => wanted.filter((name) => isAbsent(fold(name)));
  for (const name of absent(names.controls)) {
    tell('manual/controls', `the manual never names the control ${quote(name)}; say under Controls what it does`, {
      file: FILE,
      line: 1,
    });
  }
  for (const name of absent(names.faults)) {
    tell(
      'manual/faults',
      `the manual never names the fault ${quote(name)}; say under Faults and recovery how to clear it`,
      {
        file: FILE,
        line: 1,
      },
    );
  }
  if (!page.elements.some((element) => isPanelLink(element, page))) {
    tell('manual/panel-link', 'the manual must hold a link back to its panel: <a href="./">', { file: FILE, line: 1 });
  }
}

/** Finds the six headings in order. @returns the elements of each section that a reader sees, when all six are there. */
function judgeSections(page: Page, seen: readonly Element[], tell: Tell): Map<string, Element[]> {
  const headings = seen.filter((element) => isHtml(element, 'h2'));
  const titles = headings.map((heading) => fold(read(heading).text));
  const starts: Element[] = [];
  let from = 0;
  for (const section of SECTIONS) {
    const at = titles.indexOf(fold(section), from);
    if (at === -1) {
      const there = titles.length === 0 ? 'there are none' : `found ${titles.map((title) => quote(title)).join(', ')}`;
      const elsewhere = titles.includes(fold(section)) ? 'stands in the wrong place' : 'is missing';
      tell(
        'manual/sections',
        `the <h2> ${quote(section)} ${elsewhere}; the six, in order, are ${SECTIONS.join(', ')}; ${there}`,
        {
          file: FILE,
          line: headings[0] ? page.lineOf(headings[0]) : 1,
        },
      );
      return new Map();
    }
    starts.push(headings[at] as Element);
    from = at + 1;
  }
  const sections = new Map<string, Element[]>();
  SECTIONS.forEach((section, n) => {
    const start = seen.indexOf(starts[n] as Element);
    const next = starts[n + 1];
    sections.set(section, seen.slice(start + 1, next ? seen.indexOf(next) : undefined));
  });
  return sections;
}

/** A letter or digit, or an invisible character, behind which the word may go on. */
const LETTER = /[\p{L}\p{N}\u00ad\u200b-\u200d\u2060\ufeff]/u;

/** Whether a text names something as a word of its own: LOAD is not named by "download". Both are folded. */
function isNamed(name: string, text: string): boolean {
  if (name === '') return true;
  const isLetter = (character: string | undefined) => character !== undefined && LETTER.test(character);
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = isLetter(name[0]) && isLetter(text[at - 1]);
    const after = isLetter(name.at(-1)) && isLetter(text[at + name.length]);
    if (!before && !after) return true;
  }
  return false;
}

function isPanelLink(element: Element, page: Page): boolean {
  const href = linkOf(element);
  if (href === null || href.trim() === '') return false;
  const url = resolve(href, page.base);
  const address = url && `${url.protocol}//${url.host}${url.pathname}`;
  // `#top` and `manual.html` resolve to the manual itself; a folder or its index is the panel.
  if (href.trim().startsWith('#') || href.trim().startsWith('?')) return false;
  return address === page.folder || address === `${page.folder}index.html`;
}
