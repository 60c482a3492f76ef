// A shelf as full as it can be, of machines the size of real ones.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DOMAINS, ERAS } from '../dist/catalogue/vocabulary.js';
import { drawingText, proseText, scriptText, styleText } from './machine-text.mjs';

const SECTIONS = ['Overview', 'Controls', 'Normal operation', 'Alarms', 'Faults and recovery', 'Specifications'];
const CONTROLS = ['MOTOR', 'LOAD', 'BYPASS', 'PUMP'];
const FAULTS = ['belt slip', 'brine loss'];

/** The catalogue of a full shelf: a machine in every place, no two alike. */
export const shelfEntries = () => Array.from({ length: DOMAINS.length * ERAS.length }, (_, n) => entryOf(n));

/** Writes a site with these machines, about 106 KB each; check finds no error in it. */
export async function makeShelf(site, entries) {
  for (const { slug } of entries) {
    const folder = join(site, 'machines', slug);
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(filesOf(slug))) await writeFile(join(folder, name), text);
  }
  await writeFile(join(site, 'machines.json'), JSON.stringify(entries, null, 2));
}

function entryOf(n) {
  // Colours on a grid of 85: an accent two steps from its chassis, moved on once the chassis come round again.
  const hex = (code) =>
    `#${[code & 3, (code >> 2) & 3, (code >> 4) & 3].map((step) => (step * 85).toString(16).padStart(2, '0')).join('')}`;
  return {
    slug: `machine-${n}`,
    name: `Machine ${n}`,
    kind: `kind ${n}`,
    domain: DOMAINS[Math.floor(n / ERAS.length)],
    era: ERAS[n % ERAS.length],
    design: `a cabinet unlike all the others, number ${n}`,
    interaction: `turn the handles in order ${n}`,
    palette: [hex(n % 64), hex((n % 64) ^ 0b101010 ^ Math.floor(n / 64)), '#c01810'],
    controls: CONTROLS,
    faults: FAULTS,
    tagline: 'A machine to measure by.',
    created: '2025-01-01',
  };
}

function filesOf(slug) {
  const head = `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${slug}</title><link rel="stylesheet" href="machine.css"></head><body><a href="../../">Shelf</a>`;
  const kinds = ['button', 'input type="range"', 'input type="checkbox"', 'select'];
  const controls = CONTROLS.map((name, n) => `<${kinds[n]} data-control="${name}"></${kinds[n].split(' ')[0]}>`).join(
    '',
  );
  const faults = FAULTS.map((name) => `<button data-fault="${name}">${name}</button>`).join('');
  const dialog =
    '<button data-action="manual">Manual</button><dialog data-manual><button data-action="close-manual">Close</button><iframe src="manual.html"></iframe></dialog>';
  const sections = SECTIONS.map((title) => `<h2>${title}</h2>${proseText(2900)}`).join('');
  return {
    'index.html': `${head}<svg viewBox="0 0 900 900">${drawingText(15_000)}</svg>${controls}${faults}${dialog}<script src="machine.js"></script></body></html>`,
    'machine.css': styleText(27_000),
    'machine.js': `(() => {\n${scriptText(44_000)}\nwindow.machine = {};\n})();\n`,
    'manual.html':
      `${head}<a href="./">Panel</a>${sections}<ol><li>Start.</li></ol><p>${[...CONTROLS, ...FAULTS].join(', ')}</p></body></html>`.replace(
        '<h2>Alarms',
        '<ol><li>Start.</li></ol><h2>Alarms',
      ),
  };
}
