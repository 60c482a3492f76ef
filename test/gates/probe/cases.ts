import type { Entry } from '../../../src/catalogue/entry.ts';
import type { ProbeRule } from '../../../src/gates/probe/collector.ts';
import { type TestMachine, goodMachine } from '../../helpers/machine.ts';

export interface Case {
  /** What is done to the good machine. */
  title: string;
  /** The rules that must be told, and no others; none for a trap. */
  rules: ProbeRule[];
  /** For a trap: the rules it looks like breaking. */
  tempts?: ProbeRule[];
  /** A part of one of the messages. */
  says?: string;
  entry?: Partial<Entry>;
  change?: (machine: TestMachine) => void;
}

type FileName = keyof TestMachine['files'];

/** Replaces a part of a file, and fails when it is not there: a case must really change its machine. */
function swap(machine: TestMachine, file: FileName, part: string, by: string): void {
  if (!machine.files[file].includes(part)) throw new Error(`${file} does not hold ${part}`);
  machine.files[file] = machine.files[file].replace(part, () => by);
}

const js = (part: string, by: string) => (machine: TestMachine) => swap(machine, 'machine.js', part, by);
const html = (part: string, by: string) => (machine: TestMachine) => swap(machine, 'index.html', part, by);
const css = (added: string) => (machine: TestMachine) => {
  machine.files['machine.css'] += `\n${added}\n`;
};
/** Adds code at the end of the machine's function, where all its names are known. */
const atEnd = (code: string) => (machine: TestMachine) => {
  const at = machine.files['machine.js'].lastIndexOf('})();');
  machine.files['machine.js'] = `${machine.files['machine.js'].slice(0, at)}${code}\n})();\n`;
};
const all =
  (...changes: ((machine: TestMachine) => void)[]) =>
  (machine: TestMachine) => {
    for (const change of changes) change(machine);
  };
const MOTOR = '<button type="button" class="lever" data-control="MOTOR" aria-pressed="false">MOTOR</button>';
const OPENER = "find('[data-action=\"manual\"]').addEventListener('click', () => manual.showModal());";
const CLOSER = "find('[data-action=\"close-manual\"]').addEventListener('click', () => manual.close());";

/** Machines that break one rule each. */
export const FAULTY: Case[] = [
  {
    title: 'throws while it loads',
    rules: ['run/exception'],
    change: atEnd('missingFunction();'),
    says: 'missingFunction',
  },
  {
    title: 'rejects a promise nobody waits for, in its loop',
    rules: ['run/exception'],
    change: atEnd("setTimeout(() => { Promise.reject(new Error('late trouble')); }, 200);"),
    says: 'late trouble',
  },
  {
    title: 'throws when a control is used',
    rules: ['run/exception'],
    change: js(
      "controls[0].addEventListener('click', () => {",
      "controls[0].addEventListener('click', () => { null.spin();",
    ),
    says: 'MOTOR',
  },
  {
    title: 'throws in tick after five minutes',
    rules: ['run/exception'],
    change: js('plant.steps += 1;', "plant.steps += 1; if (plant.steps > 3000) throw new Error('worn out');"),
    says: 'worn out',
  },
  {
    title: 'logs an error',
    rules: ['run/console-error'],
    change: atEnd("console.error('gauge stuck');"),
    says: 'gauge stuck',
  },
  {
    title: 'asks for a file that is not there',
    rules: ['run/request-failed'],
    change: html('<header>', '<img src="plate.png" alt=""><header>'),
    says: 'plate.png',
  },
  {
    title: 'asks another host for a picture',
    rules: ['run/external-request'],
    change: html('<header>', '<img src="https://example.com/plate.png" alt=""><header>'),
    says: 'example.com',
  },
  {
    title: 'asks for a file of its neighbour',
    rules: ['run/external-request'],
    change: css("header { background: url('../other/plate.png'); }"),
    says: '../other'.slice(3),
  },
  {
    title: 'sends a beacon when the manual opens',
    rules: ['run/external-request'],
    change: js('manual.showModal()', "{ manual.showModal(); navigator.sendBeacon('https://example.com/seen'); }"),
    says: 'example.com/seen',
  },
  {
    title: 'opens a socket',
    rules: ['run/external-request'],
    change: atEnd("new WebSocket('wss://example.com/live').onerror = () => {};"),
    says: 'wss://example.com/live',
  },
  {
    title: 'leaves for another page',
    rules: ['run/external-request'],
    change: atEnd("setTimeout(() => { location.href = 'https://example.com/'; }, 500);"),
    says: 'https://example.com/',
  },
  {
    title: 'never comes back from inject',
    rules: ['run/hang'],
    change: js('    inject,\n', "    inject: (fault) => { while (fault === 'belt slip'); inject(fault); },\n"),
    says: "inject('belt slip')",
  },
  {
    title: 'has no reset()',
    rules: ['api/shape'],
    change: js('    inject,\n    reset,\n', '    inject,\n'),
    says: 'machine.reset',
  },
  {
    title: 'assigns nothing to window.machine',
    rules: ['api/shape'],
    change: js('window.machine =', 'window.other ='),
    says: 'window.machine',
  },
  {
    title: 'has alarms that are not strings',
    rules: ['api/shape'],
    change: js('alarms: alarms() })', 'alarms: alarms().concat(7) })'),
    says: 'list of strings',
  },
  {
    title: 'has a state that holds itself',
    rules: ['api/shape'],
    change: js(
      'state: () => ({ ...plant, alarms: alarms() })',
      'state: () => { const s = { ...plant, alarms: alarms() }; s.self = s; return s; }',
    ),
    says: 'holds itself',
  },
  {
    title: 'names a fault the entry has not',
    rules: ['api/faults'],
    change: js('    faults: FAULTS,', "    faults: [...FAULTS, 'spring cracked'],"),
    says: 'spring cracked',
  },
  {
    title: 'uses Math.random in tick',
    rules: ['api/deterministic'],
    change: js('plant.steps += 1;', 'plant.steps += 1; plant.load += Math.random() * 0.001;'),
    says: 'load',
  },
  {
    title: 'follows the clock',
    rules: ['api/deterministic'],
    change: js('state: () => ({ ...plant,', 'state: () => ({ ...plant, at: Math.floor(Date.now() / 1000),'),
    says: 'at is',
  },
  {
    title: 'forgets a value in reset',
    rules: ['api/deterministic'],
    change: js('plant = { ...COLD };', 'plant = { ...COLD, steps: plant ? plant.steps : 0 };'),
    says: 'steps',
  },
  {
    title: 'raises an alarm in one long tick only',
    rules: ['api/deterministic'],
    change: all(
      js('plant = { ...COLD };', 'hurried = false;\n    plant = { ...COLD };'),
      js('function tick(seconds) {', 'var hurried;\n  function tick(seconds) {\n    hurried = seconds > 5;'),
      js('const active = [];', "const active = hurried ? ['HURRY'] : [];"),
    ),
    says: 'HURRY',
  },
  {
    title: 'has a control below the fold',
    rules: ['control/visible'],
    change: css('.controls { margin-top: 900px; }'),
    says: 'outside the first',
  },
  {
    title: 'has a hidden control',
    rules: ['control/visible', 'control/reachable'],
    change: css('[data-control="BYPASS"] { display: none; }'),
    says: 'BYPASS is hidden',
  },
  {
    title: 'has a control of no opacity',
    rules: ['control/visible'],
    change: html(MOTOR, `<span style="opacity:0">${MOTOR}</span>`),
    says: 'MOTOR is hidden',
  },
  {
    title: 'draws a control nobody can reach by keyboard',
    rules: ['control/reachable'],
    change: html(MOTOR, '<div class="lever" data-control="MOTOR">MOTOR</div>'),
    says: 'MOTOR',
  },
  {
    title: 'takes a control out of the Tab order',
    rules: ['control/reachable'],
    change: html(MOTOR, MOTOR.replace('<button', '<button tabindex="-1"')),
    says: 'MOTOR',
  },
  {
    title: 'has a control without a name',
    rules: ['control/named'],
    change: html(MOTOR, MOTOR.replace('>MOTOR<', '><')),
    says: 'MOTOR',
  },
  {
    title: 'shows the manual at once',
    rules: ['manual/closed'],
    change: all(
      html('<dialog data-manual', '<dialog open data-manual'),
      js('manual.showModal()', '{ manual.close(); manual.showModal(); }'),
    ),
    says: 'open when the panel loads',
  },
  { title: 'does not open the manual', rules: ['manual/opens'], change: js(OPENER, ''), says: 'does not open' },
  {
    title: 'covers the manual button',
    rules: ['manual/opens'],
    change: css('header { position: relative; } header::after { content: ""; position: absolute; inset: 0; }'),
    says: 'covered',
  },
  {
    title: 'opens an empty manual',
    rules: ['manual/opens'],
    change: js('manual.showModal()', "{ manual.querySelector('iframe').hidden = true; manual.showModal(); }"),
    says: 'not inside',
  },
  { title: 'does not close the manual', rules: ['manual/closes'], change: js(CLOSER, ''), says: 'does not close' },
  {
    title: 'has a manual that on a wide page lacks its picture',
    rules: ['manual/alone'],
    change: (machine) =>
      swap(
        machine,
        'manual.html',
        '<h1>',
        '<picture><source media="(min-width: 1200px)" srcset="seal.png"><img src="data:," alt=""></picture><h1>',
      ),
    says: 'seal.png',
  },
  {
    title: 'is cold and alarmed',
    rules: ['alarm/cold'],
    change: js('const active = [];', "const active = plant.steps < 45 ? [] : ['ALWAYS'];"),
    says: 'ALWAYS',
  },
  {
    title: 'has a fault that rings no alarm',
    rules: ['alarm/fault'],
    change: js('    inject,\n', "    inject: (fault) => { if (fault !== 'brine loss') inject(fault); },\n"),
    says: "inject('brine loss')",
  },
  {
    title: 'keeps its alarms over a reset',
    rules: ['alarm/reset'],
    change: all(
      js('const COLD', 'const told = new Set();\n  const COLD'),
      js(
        'return active;',
        "if (injected.has('belt slip') && active.length) told.add('LATCHED'); return [...active, ...told];",
      ),
    ),
    says: 'LATCHED',
  },
  {
    title: 'has no switch for a fault',
    rules: ['fault/panel'],
    change: html('data-fault="belt slip"', 'data-fault="belt-slip"'),
    says: 'belt slip',
  },
  {
    title: 'has a dead fault switch',
    rules: ['fault/panel'],
    change: js(
      "button.addEventListener('click', () => inject(button.dataset.fault));",
      "if (button.dataset.fault !== 'brine loss') button.addEventListener('click', () => inject(button.dataset.fault));",
    ),
    says: 'brine loss',
  },
  {
    title: 'has a disabled fault switch',
    rules: ['fault/panel'],
    change: html(
      '<button type="button" data-fault="belt slip"',
      '<button type="button" disabled data-fault="belt slip"',
    ),
    says: 'belt slip',
  },
  {
    title: 'divides by zero after five minutes',
    rules: ['state/finite'],
    change: js(
      'state: () => ({ ...plant,',
      'state: () => ({ ...plant, bearing: { heat: 1 / (plant.steps < 3000 ? 1 : 0) },',
    ),
    says: 'bearing.heat is Infinity',
  },
  {
    title: 'never changes',
    rules: ['state/alive'],
    change: js('state: () => ({ ...plant, alarms: alarms() })', 'state: () => ({ alarms: alarms() })'),
    says: 'ten minutes',
  },
  {
    title: 'is too wide for the desktop',
    rules: ['layout/desktop'],
    change: css('@media (min-width: 1000px) { header { width: 1500px; } }'),
    says: 'header',
  },
  {
    title: 'is too wide for a phone',
    rules: ['layout/phone'],
    change: css('@media (max-width: 500px) { .gauge { width: 420px; } }'),
    says: 'svg',
  },
  {
    title: 'cuts a control off on a phone',
    rules: ['layout/phone'],
    change: css(
      '@media (max-width: 500px) { body { overflow-x: hidden; } .faults { flex-wrap: nowrap; width: 600px; } .faults button { flex: 1 0 auto; } }',
    ),
    says: 'too wide',
  },
  {
    title: 'hides the manual button on a phone',
    rules: ['layout/manual-phone'],
    change: css('@media (max-width: 500px) { [data-action="manual"] { display: none; } }'),
    says: '390',
  },
  {
    title: 'paints everything in one colour',
    rules: ['look/blank'],
    change: css(
      '@media (min-width: 1000px) { body::after { content: ""; position: fixed; inset: 0; background: #123456; pointer-events: none; } }',
    ),
    says: 'one colour',
  },
];

/** Machines that look like breaking a rule and are right. */
export const TRAPS: Case[] = [
  {
    title: 'catches what it throws, handles its rejections and warns',
    rules: [],
    tempts: ['run/exception', 'run/console-error'],
    change: atEnd(
      "try { missing(); } catch {} Promise.reject(new Error('x')).catch(() => {}); console.warn('error: none'); console.log('Error'); console.info(new Error('shown'));",
    ),
  },
  {
    title: 'draws with data and blob URIs, and names a namespace',
    rules: [],
    tempts: ['run/external-request', 'run/request-failed'],
    change: all(
      css('header { background: url("data:image/svg+xml,%3Csvg xmlns=\'http://www.w3.org/2000/svg\'/%3E"); }'),
      atEnd(
        "document.createElementNS('http://www.w3.org/2000/svg', 'g'); const blob = document.createElement('img'); blob.alt = ''; blob.src = URL.createObjectURL(new Blob(['<svg xmlns=\"http://www.w3.org/2000/svg\"/>'], { type: 'image/svg+xml' })); find('header').append(blob);",
      ),
      html('href="machine.css"', 'href="./machine.css?v=2"'),
      html('src="manual.html"', 'src="./manual.html#overview"'),
    ),
  },
  {
    title: 'works hard, but returns',
    rules: [],
    tempts: ['run/hang'],
    change: atEnd('for (let n = 0, x = 0; n < 2e7; n += 1) x += n;'),
  },
  {
    title: 'names its faults in another order and case, from a getter of a class',
    rules: [],
    tempts: ['api/shape', 'api/faults'],
    change: all(
      js('const FAULTS = ["belt slip","brine loss"];', "const FAULTS = ['Belt  slip', 'BRINE LOSS'];"),
      js('faults: FAULTS,', 'get faults() { return [FAULTS[1], FAULTS[0]]; },\n    serial: null,'),
      js('inject(button.dataset.fault)', "inject(FAULTS[button.dataset.fault === 'belt slip' ? 0 : 1])"),
    ),
  },
  {
    title: 'has random dust and a clock on the wall, but not in its state',
    rules: [],
    tempts: ['api/deterministic', 'state/finite'],
    change: all(
      js(
        'function draw() {',
        "function draw() {\n    document.body.style.setProperty('--dust', String(Math.random()));\n    document.body.dataset.at = new Date().toISOString();",
      ),
      js('state: () => ({ ...plant,', "state: () => ({ ...plant, note: 'NaN', infinity: null,"),
    ),
  },
  {
    title: 'has controls that are drawn, wrapped, transparent and in groups',
    rules: [],
    tempts: ['control/visible', 'control/reachable', 'control/named'],
    change: all(
      ({ entry }) => {
        entry.controls = [...entry.controls, 'VALVE SHUT', 'VALVE OPEN'];
      },
      html(
        MOTOR,
        `<span data-control="MOTOR" style="display:contents">${MOTOR.replace(' data-control="MOTOR"', '')}</span>`,
      ),
      js(
        "const controls = [...document.querySelectorAll('[data-control]')];",
        "const controls = ['.lever', '[data-control=LOAD]', '[data-control=BYPASS]', 'select'].map(find);",
      ),
      html(
        '<input type="checkbox" data-control="BYPASS">',
        '<span style="display:inline-block;width:40px;height:24px;background:#555"><input type="checkbox" data-control="BYPASS" style="opacity:0;width:100%;height:100%;margin:0"></span>',
      ),
      html(
        '<div class="faults">',
        '<fieldset><legend>Valve</legend><label><input type="radio" name="v" checked data-control="VALVE SHUT"> shut</label><label><input type="radio" name="v" data-control="VALVE OPEN"> open</label></fieldset><div class="faults">',
      ),
    ),
  },
  {
    title: 'slides its manual out of a drawer, late, and closes it with a form',
    rules: [],
    tempts: ['manual/closed', 'manual/opens', 'manual/closes', 'manual/alone'],
    change: all(
      html(
        '<button type="button" data-action="close-manual">Close</button>',
        '<form method="dialog"><button data-action="close-manual">Close</button></form>',
      ),
      js(CLOSER, ''),
      js('manual.showModal()', 'setTimeout(() => manual.showModal(), 400)'),
      css('dialog { transition: opacity 0.3s; } @starting-style { dialog[open] { opacity: 0; } }'),
      html('title="Operating manual"', 'title="Operating manual" loading="lazy"'),
    ),
  },
  {
    title: 'alarms late, in its own loop, and clears what it latched',
    rules: [],
    tempts: ['alarm/cold', 'alarm/fault', 'alarm/reset'],
    change: js('if (plant.temperature > 20)', 'if (plant.temperature > 29.5)'),
  },
  {
    title: 'guards its fault switches with a lid, one of them in an SVG, and reads one in its loop',
    rules: [],
    tempts: ['fault/panel'],
    change: all(
      html(
        '<button type="button" data-fault="belt slip">Test: belt slip</button>',
        '<span style="position:relative;display:inline-block"><button type="button" data-fault="belt slip">Test: belt slip</button><span id="lid" style="position:absolute;inset:0;background:#a33"></span></span>',
      ),
      html(
        '<button type="button" data-fault="brine loss">Test: brine loss</button>',
        '<svg width="60" height="60" viewBox="0 0 60 60"><g role="button" tabindex="0" aria-label="brine loss" data-fault="brine loss"><circle cx="30" cy="30" r="28"/></g></svg>',
      ),
      js(
        "button.addEventListener('click', () => inject(button.dataset.fault));",
        "button.addEventListener('click', () => { button.wanted = true; });",
      ),
      js(
        'tick(Math.max(0',
        "for (const button of document.querySelectorAll('[data-fault]')) if (button.wanted) { button.wanted = false; inject(button.dataset.fault ?? button.getAttribute('data-fault')); }\n    tick(Math.max(0",
      ),
      atEnd("find('#lid').addEventListener('click', () => setTimeout(() => find('#lid').remove(), 300));"),
    ),
  },
  {
    title: 'comes alive only once its controls are used',
    rules: [],
    tempts: ['state/alive'],
    change: js(
      'const drive =',
      'if (!plant.running && injected.size === 0) { plant.steps -= 1; return; }\n    const drive =',
    ),
  },
  {
    title: 'clips its decoration and scrolls its tape inside a window',
    rules: [],
    tempts: ['layout/desktop', 'layout/phone', 'layout/manual-phone'],
    change: all(
      html('<main>', '<main><div class="glow"></div><div class="tape"><p>tick tock</p></div>'),
      css(
        'body { overflow-x: hidden; } .glow { position: absolute; left: 0; top: 0; width: 3000px; height: 10px; background: #0003; pointer-events: none; } .tape { overflow-x: auto; } .tape p { width: 2000px; margin: 0; }',
      ),
    ),
  },
  {
    title: 'is dark, with one small lamp',
    rules: [],
    tempts: ['look/blank', 'look/twin'],
    change: css(
      '* { color: #111 !important; } body, button, select { background: #111 !important; border-color: #111 !important; } header { border-bottom: 30px solid #c22; }',
    ),
  },
];

/** The machine of a case, under a slug of its own. */
export function machineFor(given: Case, slug: string): TestMachine {
  const machine = goodMachine({ slug, ...given.entry });
  given.change?.(machine);
  return machine;
}
