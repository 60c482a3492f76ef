import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, MachineFile } from '../../src/catalogue/entry.ts';
import { DOMAINS, ERAS } from '../../src/catalogue/vocabulary.ts';

/** A small but complete machine: it passes check, and its panel, faults and manual work in a browser. */
export interface TestMachine {
  entry: Entry;
  files: Record<MachineFile, string>;
}

const ENTRY: Entry = {
  slug: 'ice-plant-compressor',
  name: 'Harbour Ice Plant',
  kind: 'ammonia ice plant compressor stand',
  domain: 'cold-chain',
  era: '1950s',
  design: 'cream enamelled cabinet with brass bezels and black engraved legends',
  interaction: 'balance the compressor against the brine before the ice cracks',
  palette: ['#e8dfc8', '#8a5a1c', '#b3261e'],
  controls: ['MOTOR', 'LOAD', 'BYPASS', 'BRINE PUMP'],
  faults: ['belt slip', 'brine loss'],
  tagline: 'Forty tons of ice by morning, if the belt holds.',
  created: '2025-01-15',
};

/** Makes the one good machine; overrides replace entry keys and the files are written from the entry that results. */
export function goodMachine(overrides: Partial<Entry> = {}): TestMachine {
  const entry = { ...ENTRY, ...overrides };
  return {
    entry,
    files: {
      'index.html': panelOf(entry),
      'machine.css': styleOf(entry),
      'machine.js': scriptOf(entry),
      'manual.html': manualOf(entry),
    },
  };
}

/** Makes good machines that break no uniqueness rule among themselves: at most 250, each in a place of its own. */
export function goodMachines(count: number): TestMachine[] {
  return Array.from({ length: count }, (_, n) => {
    if (n === 0) return goodMachine();
    // Place n, save that the first machine has a place of its own: whoever would get that one gets place 0 instead.
    const taken = DOMAINS.indexOf('cold-chain') * ERAS.length + ERAS.indexOf('1950s');
    const place = n === taken ? 0 : n;
    return goodMachine({
      slug: `machine-${n}`,
      name: `Machine number ${n}`,
      kind: `kind number ${n}`,
      domain: DOMAINS[Math.floor(place / ERAS.length)] as string,
      era: ERAS[place % ERAS.length] as string,
      design: `a cabinet unlike all the others, design number ${n}`,
      interaction: `turn the handles in the order of number ${n}`,
      palette: paletteOf(n),
      created: '2025-02-01',
    });
  });
}

/** Chassis and accent on a grid of 85: any two palettes differ by at least that, more than the 80 asked. */
function paletteOf(n: number): string[] {
  const level = (step: number) => Math.min(255, step * 85);
  const hex = (code: number) =>
    [code & 3, (code >> 2) & 3, (code >> 4) & 3].map((step) => level(step).toString(16).padStart(2, '0')).join('');
  // The accent is the chassis with every channel two steps away, then moved by the block of 64 we are in.
  const chassis = n % 64;
  const accent = chassis ^ 0b101010 ^ Math.floor(n / 64);
  return [`#${hex(chassis)}`, `#${hex(accent)}`, '#c01810'];
}

/** Writes `site/machines.json` and `site/machines/<slug>/` for each machine; `site` is made when missing. */
export async function writeShelf(site: string, machines: readonly TestMachine[]): Promise<void> {
  await mkdir(join(site, 'machines'), { recursive: true });
  for (const { entry, files } of machines) {
    const folder = join(site, 'machines', entry.slug);
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  }
  await writeFile(
    join(site, 'machines.json'),
    `${JSON.stringify(
      machines.map(({ entry }) => entry),
      null,
      2,
    )}\n`,
  );
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The first four controls are of four kinds; any further ones are push buttons. */
function controlMarkup(name: string, index: number): string {
  const at = `data-control="${escapeHtml(name)}"`;
  const label = escapeHtml(name);
  if (index === 0) return `<button type="button" class="lever" ${at} aria-pressed="false">${label}</button>`;
  if (index === 1) return `<label>${label} <input type="range" min="0" max="100" value="40" ${at}></label>`;
  if (index === 2) return `<label>${label} <input type="checkbox" ${at}></label>`;
  if (index === 3)
    return `<label>${label} <select ${at}><option value="0">off</option><option value="1">slow</option><option value="2">fast</option></select></label>`;
  return `<button type="button" ${at}>${label}</button>`;
}

function panelOf(entry: Entry): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(entry.name)}</title>
<link rel="stylesheet" href="machine.css">
</head>
<body>
<header>
<h1>${escapeHtml(entry.name)}</h1>
<a href="../../">Shelf</a>
<button type="button" data-action="manual">Manual</button>
</header>
<main>
<svg class="gauge" viewBox="0 0 100 60" role="img" aria-label="Suction pressure" xmlns="http://www.w3.org/2000/svg">
<path d="M10 55 A40 40 0 0 1 90 55" fill="none" stroke="currentColor" stroke-width="2"/>
<line id="needle" x1="50" y1="55" x2="50" y2="20" stroke="currentColor" stroke-width="2"/>
</svg>
<p id="readout">cold</p>
<div class="controls">
${entry.controls.map(controlMarkup).join('\n')}
</div>
<div class="faults">
${entry.faults.map((fault) => `<button type="button" data-fault="${escapeHtml(fault)}">Test: ${escapeHtml(fault)}</button>`).join('\n')}
</div>
<ul id="alarms" aria-live="polite"></ul>
</main>
<dialog data-manual aria-label="Manual">
<button type="button" data-action="close-manual">Close</button>
<iframe src="manual.html" title="Operating manual"></iframe>
</dialog>
<script src="machine.js"></script>
</body>
</html>
`;
}

function styleOf(entry: Entry): string {
  const [chassis, accent, alarm] = entry.palette;
  return `:root { --chassis: ${chassis}; --accent: ${accent}; --alarm: ${alarm}; }
* { box-sizing: border-box; }
body { margin: 0; padding: 16px; background: var(--chassis); color: #1a1a1a; font: 16px/1.4 Georgia, serif; }
header { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; border-bottom: 4px solid var(--accent); }
h1 { margin: 0; font-size: 1.5rem; }
.gauge { display: block; width: min(320px, 100%); color: var(--accent); }
.controls, .faults { display: flex; flex-wrap: wrap; gap: 12px; margin: 12px 0; }
button, select, input { font: inherit; min-height: 40px; }
button { border: 2px solid var(--accent); background: #fffdf5; color: #1a1a1a; padding: 4px 12px; }
button[aria-pressed="true"] { background: var(--accent); color: #fff; }
input[type="checkbox"] { width: 24px; }
#alarms { padding: 0; list-style: none; }
#alarms li { background: var(--alarm); color: #fff; padding: 4px 8px; }
dialog { width: min(900px, 94vw); height: 80vh; padding: 8px; }
dialog iframe { width: 100%; height: calc(100% - 56px); border: 0; background: #fff; }
table { border-collapse: collapse; }
td, th { border: 1px solid #777; padding: 4px 8px; }
@media (max-width: 480px) { body { padding: 8px; } h1 { width: 100%; } }
`;
}

/** Pressure, temperature and speed pull on one another; time goes in whole steps of a tenth of a second. */
function scriptOf(entry: Entry): string {
  return `(() => {
  'use strict';
  const FAULTS = ${JSON.stringify(entry.faults)};
  const STEP = 0.1;
  const COLD = { steps: 0, owed: 0, running: false, load: 40, bypass: false, brine: 0, speed: 0, pressure: 30, temperature: 12 };
  let plant;
  let injected;
  const find = (selector) => document.querySelector(selector);
  const controls = [...document.querySelectorAll('[data-control]')];

  function step() {
    plant.steps += 1;
    const drive = plant.running && !injected.has(FAULTS[0]) ? 1 : 0;
    plant.speed += (drive * 720 - plant.speed) * 0.04;
    const pull = (plant.speed / 720) * (plant.load / 100) * (plant.bypass ? 0.3 : 1);
    plant.pressure += (30 + pull * 60 + (injected.has(FAULTS[0]) ? 55 : 0) - plant.pressure) * 0.03;
    const flow = injected.has(FAULTS[1]) ? -1 : plant.brine;
    plant.temperature += (12 - pull * 8 * (1 + flow) + (flow < 0 ? 20 : 0) - plant.temperature) * 0.02;
  }

  function alarms() {
    const active = [];
    if (plant.pressure > 75 && injected.has(FAULTS[0])) active.push('HEAD PRESSURE');
    if (plant.temperature > 20) active.push('BRINE WARM');
    for (const fault of FAULTS.slice(2)) if (injected.has(fault)) active.push(fault.toUpperCase());
    return active;
  }

  function tick(seconds) {
    plant.owed += seconds;
    while (plant.owed >= STEP - 1e-9) {
      plant.owed -= STEP;
      step();
    }
    if (Math.abs(plant.owed) < 1e-9) plant.owed = 0;
    draw();
  }

  function draw() {
    find('#needle').setAttribute('transform', 'rotate(' + (plant.pressure - 50).toFixed(1) + ' 50 55)');
    find('#readout').textContent = plant.pressure.toFixed(0) + ' psi, ' + plant.temperature.toFixed(1) + ' C, ' + plant.speed.toFixed(0) + ' rpm';
    const list = find('#alarms');
    const told = alarms().join('|');
    if (list.dataset.told === told) return;
    list.dataset.told = told;
    list.replaceChildren(...alarms().map((name) => Object.assign(document.createElement('li'), { textContent: name })));
  }

  function reset() {
    plant = { ...COLD };
    injected = new Set();
    controls[0].setAttribute('aria-pressed', 'false');
    controls[1].value = '40';
    controls[2].checked = false;
    controls[3].value = '0';
    draw();
  }

  function inject(fault) {
    if (!FAULTS.includes(fault)) throw new RangeError('no fault is called ' + fault);
    injected.add(fault);
  }

  controls[0].addEventListener('click', () => {
    plant.running = !plant.running;
    controls[0].setAttribute('aria-pressed', String(plant.running));
  });
  controls[1].addEventListener('input', () => { plant.load = Number(controls[1].value); });
  controls[2].addEventListener('change', () => { plant.bypass = controls[2].checked; });
  controls[3].addEventListener('change', () => { plant.brine = Number(controls[3].value); });
  for (const button of document.querySelectorAll('[data-fault]')) {
    button.addEventListener('click', () => inject(button.dataset.fault));
  }
  const manual = find('dialog[data-manual]');
  find('[data-action="manual"]').addEventListener('click', () => manual.showModal());
  find('[data-action="close-manual"]').addEventListener('click', () => manual.close());

  reset();
  let last = performance.now();
  function frame(now) {
    tick(Math.max(0, Math.min(0.25, (now - last) / 1000)));
    last = now;
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);

  window.machine = {
    name: ${JSON.stringify(entry.name)},
    faults: FAULTS,
    state: () => ({ ...plant, alarms: alarms() }),
    tick,
    inject,
    reset,
  };
})();
`;
}

function manualOf(entry: Entry): string {
  const items = (names: readonly string[], told: string) =>
    names.map((name) => `<li><b>${escapeHtml(name)}</b>: ${told}</li>`).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(entry.name)}: manual</title>
<link rel="stylesheet" href="machine.css">
</head>
<body>
<h1>${escapeHtml(entry.name)}</h1>
<p><a href="./">Back to the panel</a> · <a href="../../">Shelf</a></p>
<h2>Overview</h2>
<p>${escapeHtml(entry.tagline)}</p>
<h2>Controls</h2>
<ul>
${items(entry.controls, 'work it gently.')}
</ul>
<h2>Normal operation</h2>
<ol><li>Start the brine.</li><li>Start the motor and load it slowly.</li></ol>
<h2>Alarms</h2>
<p>Each alarm stays lit while its cause lasts.</p>
<h2>Faults and recovery</h2>
<ul>
${items(entry.faults, 'stop, mend the cause, start again.')}
</ul>
<h2>Specifications</h2>
<table><tr><th>Speed</th><td>720 rpm</td></tr></table>
</body>
</html>
`;
}
