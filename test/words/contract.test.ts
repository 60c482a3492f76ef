import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { folded, ruleIds, text } from './texts.ts';

/** Where the contract tells each rule of docs/gates.md: phrases of AGENTS.md, all of which have to be there. */
const TOLD: Record<string, string[]> = {
  'catalogue/json': ['Append one object to the array in `site/machines.json`'],
  'entry/field': ['not blank', 'three colours or more', 'four names or more', 'two names or more', 'No other key'],
  'entry/slug': ['words of `a-z0-9` joined by single dashes; unique'],
  'entry/unique-name': ['| `name`, `kind`, `design`, `interaction` | not blank; no other entry has the same'],
  'entry/unique-kind': ['| `name`, `kind`, `design`, `interaction` | not blank; no other entry has the same'],
  'entry/unique-design': ['| `name`, `kind`, `design`, `interaction` | not blank; no other entry has the same'],
  'entry/unique-interaction': ['| `name`, `kind`, `design`, `interaction` | not blank; no other entry has the same'],
  'entry/domain': ['from the lists above, spelt so'],
  'entry/era': ['from the lists above, spelt so'],
  'entry/unique-place': ['the pair is not taken'],
  'entry/design-words': ['six words or more'],
  'entry/palette': ['`#rrggbb`', 'Chassis and accent at least 60 apart'],
  'entry/unique-palette': ['chassis distance plus accent distance is at least 80'],
  'entry/created': ['`date -u +%F`'],
  'files/set': ['holds exactly these', 'no folder, no image, no dot file'],
  'files/regular': ['regular files'],
  'files/size': ['under 160 KB (a warning above)', 'refused over 200 KB'],
  'files/encoding': ['UTF-8'],
  'files/unlisted': ['Both gates judge the machines that the catalogue lists'],
  'page/document': ['`<head>`, `<title>` and `<body>` of their own'],
  'page/stylesheet': ['link `machine.css` as a stylesheet'],
  'page/inline-style': ['no `<style>` with content (a `style` attribute is fine)'],
  'page/inline-script': [
    'no `on…` attribute',
    'no `javascript:` link',
    'no `<script>` without `src`',
    'No script at all',
  ],
  'page/catalogue-link': ['link to `../../` (`../../index.html` is as good'],
  'panel/script': ['as the last element of the body, or with `defer`; a classic script'],
  'panel/manual': [
    '`<dialog data-manual>` holding `<iframe src="manual.html"',
    '`data-action="manual"`',
    '`data-action="close-manual"`',
  ],
  'panel/control': ['`data-control="<NAME>"` for every name'],
  'panel/fault': ['`data-fault="<name>"` for every name'],
  'panel/control-kinds': ['at least three kinds', 'element name, input type and role'],
  'manual/sections': [
    '`Overview`',
    '`Controls`',
    '`Normal operation`',
    '`Alarms`',
    '`Faults and recovery`',
    '`Specifications`',
  ],
  'manual/procedure': ['`Normal operation` has an `<ol>`'],
  'manual/specifications': ['`Specifications` has a `<table>`'],
  'manual/controls': ['`Controls` names every control'],
  'manual/faults': ['`Faults and recovery` names every fault'],
  'manual/panel-link': ['Links to `./` (the panel)'],
  'script/syntax': ['a classic script, not a module'],
  'script/module': ['no `import` or `export`'],
  'script/api': ['window.machine = { name, faults, state, tick, inject, reset }'],
  'style/syntax': ['parses without an error that loses rules'],
  'external/request': ['load nothing from elsewhere', '`sendBeacon`', '`WebSocket`', '`@import`'],
  'run/exception': ['without an exception'],
  'run/console-error': ['a console error'],
  'run/request-failed': ['a failed request'],
  'run/external-request': ['a request outside its folder'],
  'run/hang': ['no step hangs (10 s for a page, 20 s for a simulation step)'],
  'api/shape': ['the API has its shape', 'an array of the names of the active ones'],
  'api/faults': ["exactly the entry's faults"],
  'api/deterministic': [
    'after `reset()` the same ticks give the same `state()`',
    'Ten ticks of one second end with the same alarms as one of ten',
  ],
  'control/visible': ['a visible box inside 1440 × 900'],
  'control/reachable': ['takes focus with Tab'],
  'control/named': ['has an accessible name'],
  'manual/closed': ['closed on load'],
  'manual/opens': ['the manual opens and closes by real clicks, with its text inside'],
  'manual/closes': ['the manual opens and closes by real clicks'],
  'manual/alone': ['loads alone'],
  'alarm/cold': ['no alarm five seconds after `reset()`'],
  'alarm/fault': ['each fault raises one within 60 simulated seconds, by `inject`'],
  'alarm/reset': ['`reset()` clears them'],
  'fault/panel': ['and by its control on the panel', 'One click, or Enter, sets it off'],
  'state/finite': ['ten simulated minutes stay finite', 'Every number is finite'],
  'state/alive': ['after every control was used once something changes'],
  'layout/desktop': ['nothing overflows sideways at 1440 and 390 px'],
  'layout/phone': ['nothing overflows sideways at 1440 and 390 px'],
  'layout/manual-phone': ['a visible box at 390 px'],
  'look/blank': ['the picture is not blank'],
  'look/twin': ['it is not the twin of another machine'],
  'scope/outside': [
    'a changed, moved, removed or newly executable file elsewhere refuses the whole shift',
    'a new file elsewhere is left behind',
  ],
  'scope/catalogue': ['Leave every earlier entry as it is'],
  'scope/entry': ['your own new folder', 'by one entry at its end'],
  'scope/link': ['No symbolic links, no repository inside the folder'],
};

describe('the contract the agent reads', () => {
  const contract = folded(text('AGENTS.md'));
  const rules = ruleIds(text('docs/gates.md'));

  it('is held to every rule of docs/gates.md, and to no rule that is not there', () => {
    expect(Object.keys(TOLD).sort()).toEqual([...rules].sort());
  });

  it.each(rules)('tells %s', (rule) => {
    for (const phrase of TOLD[rule] ?? [`(nothing is noted for ${rule})`]) expect(contract).toContain(phrase);
  });

  it('shows an example entry with the keys of docs/formats.md in their order', () => {
    const example = JSON.parse(/```json\n(\{[\s\S]*?\})\n```/.exec(text('AGENTS.md'))?.[1] ?? 'null') as object;
    const section = /## 6\. The catalogue([\s\S]*?)\n## /.exec(text('docs/formats.md'))?.[1] ?? '';
    const keys = [...section.matchAll(/^\| ((?:`[a-z]+`(?:, )?)+) \|/gm)].flatMap((row) =>
      [...(row[1] ?? '').matchAll(/`([a-z]+)`/g)].map((match) => match[1]),
    );
    expect(Object.keys(example)).toEqual(keys);
  });

  it('names every tool the harness offers', () => {
    for (const tool of ['read', 'write', 'list', 'shell', 'view', 'plan', 'progress', 'success', 'failure']) {
      expect(contract).toContain(`| \`${tool} {`);
    }
  });
});

describe('the standing order', () => {
  const order = parse(text('orders/new-machine.yaml')) as Record<string, unknown>;

  it('has the keys of a work order and no other', () => {
    expect(Object.keys(order)).toEqual(['title', 'objective', 'acceptance', 'constraints']);
    expect(order.objective).toEqual(expect.stringMatching(/\S/));
    for (const key of ['acceptance', 'constraints'])
      expect(order[key]).toEqual(expect.arrayContaining([expect.any(String)]));
  });

  it('points at a heading of the contract when it names one', () => {
    expect(folded(String(order.objective))).toContain('"Continuing unfinished work"');
    expect(text('AGENTS.md')).toMatch(/^## Continuing unfinished work$/m);
  });

  it('asks for the same commands as the contract', () => {
    for (const command of ['bash scripts/check.sh <slug>', 'node scripts/probe.js <slug>']) {
      expect(JSON.stringify(order)).toContain(command);
      expect(folded(text('AGENTS.md'))).toContain(command);
    }
  });
});
