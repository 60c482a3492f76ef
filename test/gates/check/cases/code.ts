import { type Case, addToScript, addToStyle, swap } from './bench.ts';

const script =
  (from: string, to: string): NonNullable<Case['edit']> =>
  (machine) =>
    swap(machine, 'machine.js', from, to);
const assign = (to: string) => script('window.machine = {', to);

export const CODE_CASES: Case[] = [
  { rule: 'script/syntax', name: 'a missing bracket', edit: script("'use strict';", "'use strict'; if (1 {") },
  { rule: 'script/syntax', name: 'a name declared twice', edit: addToScript('let plant;') },
  {
    rule: 'script/syntax',
    name: 'brackets deeper than any stack',
    edit: addToScript(`${'('.repeat(50_000)}1${')'.repeat(50_000)};`),
  },
  {
    rule: null,
    name: 'the newest syntax',
    edit: addToScript(
      'class A { #x = 1; static { A.y ??= 1; } has(o) { return #x in o; } }\n1_000n; /(?<a>.)/dv; async () => { for await (const x of []) x?.y?.(); };',
    ),
  },
  {
    rule: null,
    name: 'regular expressions that only a newer engine than this Node compiles',
    edit: addToScript('/(?i:a)b/; /(?<at>x)|(?<at>y)/;'),
  },
  { rule: 'script/syntax', name: 'a regular expression no engine compiles', edit: addToScript('/(/;') },
  {
    rule: 'script/module',
    name: 'an import',
    edit: (machine) => {
      machine.files['machine.js'] = `import './a.js';\n${machine.files['machine.js']}`;
    },
  },
  {
    rule: 'script/module',
    name: 'an export',
    edit: (machine) => {
      machine.files['machine.js'] += 'export default 1;\n';
    },
  },
  {
    rule: 'script/module',
    name: 'a top-level await',
    edit: (machine) => {
      machine.files['machine.js'] += 'await Promise.resolve();\n';
    },
  },
  {
    rule: null,
    name: 'the words in comments, strings and members',
    edit: addToScript("// import x from 'y'\nconst o = { import: 1, export: 'export default' }; o.import += 1;"),
  },
  { rule: 'script/api', name: 'nothing assigned', edit: assign('const panel = {') },
  { rule: 'script/api', name: 'a member of something else', edit: assign('const own = {}; own.machine = {') },
  {
    rule: 'script/api',
    name: 'only compared, and assigned in a comment and a string',
    edit: assign("/* window.machine = {} */ 'window.machine = {}'; window.machine == 1; const panel = {"),
  },
  ...[
    "window['machine'] = {",
    'self.machine = {',
    'globalThis[`mach` + "ine"] = {',
    'window.window.machine ||= {',
    'const w = window; w.machine = {',
    '[window.machine] = [{',
    'Object.assign(window, { machine: 1 }); window.x = {',
    "Object.defineProperty(window, 'machine', { value: 1 }); window.x = {",
    'w\\u0069ndow.mach\\u0069ne = {',
    '((root) => { root.machine = 1; })(window); window.x = {',
  ].map(
    (to): Case => ({
      rule: null,
      name: `the assignment ${to}`,
      edit: to.startsWith('[')
        ? (machine) => {
            swap(machine, 'machine.js', 'window.machine = {', to);
            swap(machine, 'machine.js', '    reset,\n  };', '    reset,\n  }];');
          }
        : assign(to),
    }),
  ),
  {
    rule: null,
    name: 'a variable at the top',
    edit: (machine) => {
      swap(machine, 'machine.js', 'window.machine = {', 'window.made = {');
      machine.files['machine.js'] += 'var machine = window.made;\n';
    },
  },

  ...[
    ['an unclosed block', '.a { color: red;'],
    ['a stray brace', '.a { color: red; } }\n.b { color: red; }'],
    ['an unclosed comment', '/* .a { }'],
    ['an unclosed string', '.a::before { content: "x\n; }'],
    ['a string open to the end', '.a { } .b::before { content: "x; }'],
    ['a bad selector', '.a..b { color: red; }'],
    ['no selector', '.a { } { color: red; }'],
    ['a declaration at the top', 'color: red;\n.a { color: red; }'],
    ['a semicolon after a rule', '.a { color: red; };\n.b { color: red; }'],
    ['a rule without a block', '.a'],
    ['an unclosed bracket', '.a { width: calc(1px; }\n.b { color: red; }'],
    ['a number for a class', '.1a { color: red; }'],
    ['an id that begins with a digit', '#1a { color: red; }'],
    ['an @import without its semicolon', '@import "a.css"\n.a { color: red; }'],
    ['a media query without brackets', '@media screen and max-width: 600px { .a { color: red; } }'],
    ['a bad selector in a media block', '@media (width > 1px) { .a > > .b { color: red; } }'],
    ['a bad keyframe', '@keyframes a { 0 { color: red; } }'],
    ['a bad nested selector', '.a { color: red; .b..c { color: red; } }'],
    ['a selector with a comma at its end', '.a, { color: red; }'],
  ].map(([name, css]): Case => ({ rule: 'style/syntax', name: name as string, edit: addToStyle(css as string) })),
  ...[
    [
      'nesting',
      '.a { color: red; &:hover { color: blue; } .b & { color: red; } > .c, + .d { color: red; } @media (width > 1px) { color: red; } }',
    ],
    [
      'braces in strings, comments and addresses',
      '.a::before { content: "}"; } /* } { */ .b { background: url("data:image/svg+xml,{}"); } .c\\{ { color: red; }',
    ],
    [
      'custom properties with anything in them',
      ':root { --a: { x: y; }; --b:; --c: [;]; --d: (}); }'.replace(' --d: (});', ''),
    ],
    [
      'old hacks',
      '.a { *zoom: 1; filter: progid:DXImageTransform.Microsoft.gradient(startColorstr="#80000000",endColorstr="#80000000"); color: red\\9; }',
    ],
    [
      'layers, containers, scopes and supports',
      '@layer a, b; @layer a { .x { color: red; } } @container card (width > 400px) { .x { color: red; } } @scope (.a) to (.b) { :scope { color: red; } } @supports (display: grid) and (not (display: inline-grid)) { .x { color: red; } } @starting-style { .x { opacity: 0; } }',
    ],
    [
      'new selectors',
      '.a:has(> .b), :is(.a, .b) :where(.c):not(.d, .e):nth-child(2n + 1 of .f)::part(x), [data-a="b" i], a:focus-visible, ::view-transition-old(root), .\\31 a, :host(.x) { color: red; }',
    ],
    [
      'font faces, properties, keyframes, pages',
      '@font-face { font-family: x; src: local("x"); } @property --x { syntax: "<length>"; inherits: false; initial-value: 0px; } @keyframes a { from, 50.5% { color: red; } to { color: blue; } } @page :first { margin: 1cm; @top-left { content: "x"; } } @-webkit-keyframes b { 0% { color: red; } }',
    ],
    [
      'media queries of every kind',
      '@media screen and (400px <= width <= 700px), print and (orientation: landscape) { .x { color: red; } } @media (prefers-reduced-motion: reduce) { .x { color: red; } } @media not all and (hover) { .x { color: red; } } @media only screen and (-webkit-min-device-pixel-ratio: 1.5), (min-resolution: 2dppx) { .x { color: red; } } @media (width >= calc(10px + 1em)) { .x { color: red; } }',
    ],
    ['comments everywhere', '/**/.a/**/>/**/.b/**/,/* , */.c/**/{/**/color/**/:/**/red/**/}/**/'],
    ['an unknown rule and an unknown property', '@future thing { .x { color: red; } } .a { future: 1px; color: }'],
    ['a missing last semicolon and empty blocks', '.a { color: red } .b { } @media print { }'],
  ].map(([name, css]): Case => ({ rule: null, name: name as string, edit: addToStyle(css as string) })),
];
