import type { MachineFile } from '../../catalogue/entry.ts';
import type { Finding } from '../finding.ts';
import { parsePage } from './html.ts';
import { judgeManual } from './manual.ts';
import { judgePage } from './page.ts';
import { judgePanel, type Names } from './panel.ts';
import { teller } from './tell.ts';

/** Judges what a machine's two pages hold. A file that is missing is not judged: `files/set` tells that. */
export function judgePages(slug: string, names: Names, texts: ReadonlyMap<MachineFile, string>): Finding[] {
  const findings: Finding[] = [];
  for (const name of ['index.html', 'manual.html'] as const) {
    const text = texts.get(name);
    if (text === undefined) continue;
    const onPage = (located: boolean): Finding[] => {
      const found: Finding[] = [];
      const page = parsePage(name, text, slug, located);
      judgePage(page, teller(slug, found));
      if (name === 'index.html') judgePanel(page, names, teller(slug, found));
      else judgeManual(page, names, teller(slug, found));
      return found;
    };
    // Most pages are right: only where something is told is the page read again to know on which line.
    if (onPage(false).length > 0) findings.push(...onPage(true));
  }
  return findings;
}
