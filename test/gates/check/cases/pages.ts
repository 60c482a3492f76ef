import { type Case, addToManual, addToPanel, swap } from './bench.ts';

const panel =
  (from: string, to: string): NonNullable<Case['edit']> =>
  (machine) =>
    swap(machine, 'index.html', from, to);
const manual =
  (from: string, to: string): NonNullable<Case['edit']> =>
  (machine) =>
    swap(machine, 'manual.html', from, to);
const all =
  (...edits: NonNullable<Case['edit']>[]): NonNullable<Case['edit']> =>
  (machine, first) => {
    for (const edit of edits) edit(machine, first);
  };

const SCRIPT = '<script src="machine.js"></script>';
const LINK = '<link rel="stylesheet" href="machine.css">';

export const PAGE_CASES: Case[] = [
  { rule: 'page/document', name: 'no <html> tag', edit: panel('<html lang="en">', '') },
  { rule: 'page/document', name: 'no <head> tag', edit: panel('<head>', '') },
  { rule: 'page/document', name: 'a <body> in a comment only', edit: manual('<body>', '<!-- <body> -->') },
  {
    rule: 'page/document',
    name: 'a <body> that comes too late to be one',
    edit: manual('<body>', '<p>first</p><body>'),
  },
  {
    rule: 'page/document',
    name: 'a title in an svg only',
    edit: all(panel('<title>Machine number 1</title>', ''), addToPanel('<svg><title>Gauge</title></svg>')),
  },
  { rule: 'page/document', name: 'a blank title', edit: panel('<title>Machine number 1</title>', '<title> </title>') },
  {
    rule: null,
    name: 'tags in capitals with attributes',
    edit: all(
      panel('<html lang="en">', '<HTML LANG=en>'),
      panel('<head>', '<HEAD\n>'),
      panel('<body>', '<BODY class="x">'),
    ),
  },

  { rule: 'page/stylesheet', name: 'no link', edit: panel(LINK, '') },
  { rule: 'page/stylesheet', name: 'a link in a comment', edit: manual(LINK, `<!-- ${LINK} -->`) },
  {
    rule: 'page/stylesheet',
    name: 'a preload only',
    edit: panel(LINK, '<link rel="preload" as="style" href="machine.css">'),
  },
  {
    rule: 'page/stylesheet',
    name: 'an alternate stylesheet',
    edit: panel(LINK, '<link rel="alternate stylesheet" href="machine.css">'),
  },
  { rule: 'page/stylesheet', name: 'a link in a template', edit: panel(LINK, `<template>${LINK}</template>`) },
  {
    rule: null,
    name: 'a stylesheet link written oddly',
    edit: panel(LINK, "<LINK HREF='&#46;/machine&period;css' type='Text/CSS' REL=' StyleSheet '>"),
  },

  { rule: 'page/inline-style', name: 'a style element', edit: panel('</head>', '<STYLE>p{color:red}</STYLE></head>') },
  {
    rule: 'page/inline-style',
    name: 'a style element in an svg',
    edit: addToPanel('<svg><style>path{fill:red}</style></svg>'),
  },
  {
    rule: null,
    name: 'a style element with a comment only, and style attributes',
    edit: all(panel('</head>', '<style> /* none */ </style></head>'), addToPanel('<p style="color:red">x</p>')),
  },
  {
    rule: null,
    name: 'a style element in text and in a comment',
    edit: addToPanel('<p>&lt;style>p{}&lt;/style></p><!-- <style>p{}</style> -->'),
  },

  { rule: 'page/inline-script', name: 'a script without src', edit: addToPanel('<script>1</script>') },
  { rule: 'page/inline-script', name: 'an event attribute in capitals', edit: addToPanel('<p ONCLICK="go()">x</p>') },
  { rule: 'page/inline-script', name: 'an event attribute in an svg', edit: addToPanel('<svg onload=go()></svg>') },
  {
    rule: 'page/inline-script',
    name: 'a javascript: link, disguised',
    edit: addToPanel('<a href=" &#74;ava&Tab;script&colon;go()">x</a>'),
  },
  {
    rule: 'page/inline-script',
    name: 'a script of code in a data: address',
    edit: addToPanel('<script src="data:text/javascript,1"></script>'),
  },
  {
    rule: 'page/inline-script',
    name: 'a script in an srcdoc',
    edit: addToPanel('<iframe srcdoc="&lt;script>1&lt;/script>"></iframe>'),
  },
  {
    rule: 'page/inline-script',
    name: 'a script with src in the manual',
    edit: addToManual('<script src="machine.js"></script>'),
  },
  {
    rule: null,
    name: 'scripts in comments and text, an attribute that begins with data-on',
    edit: all(
      addToPanel('<!-- <script>1</script> --><p data-onclick="x" title="javascript:go()">&lt;script></p>'),
      addToManual('<!-- <script></script> --><pre>onclick="go()"</pre>'),
    ),
  },

  { rule: 'page/catalogue-link', name: 'no link in the panel', edit: panel('<a href="../../">Shelf</a>', '') },
  { rule: 'page/catalogue-link', name: 'a link one level short', edit: manual('<a href="../../">', '<a href="../">') },
  { rule: 'page/catalogue-link', name: 'a link from the root', edit: panel('<a href="../../">', '<a href="/">') },
  {
    rule: null,
    name: 'links written oddly',
    edit: all(
      panel('<a href="../../">', '<A HREF=" .././../index.html#top ">'),
      manual('<a href="../../">', '<a href="..&#47;../?from=manual">'),
    ),
  },

  { rule: 'panel/script', name: 'no script', edit: panel(SCRIPT, '') },
  { rule: 'panel/script', name: 'a script in a comment', edit: panel(SCRIPT, `<!-- ${SCRIPT} -->`) },
  { rule: 'panel/script', name: 'a module', edit: panel(SCRIPT, '<script type="module" src="machine.js"></script>') },
  {
    rule: 'panel/script',
    name: 'a script in the head',
    edit: all(panel(SCRIPT, ''), panel('</head>', `${SCRIPT}</head>`)),
  },
  { rule: 'panel/script', name: 'an element after the script', edit: panel(SCRIPT, `${SCRIPT}<p>last</p>`) },
  {
    rule: 'panel/script',
    name: 'async, which overrules defer',
    edit: all(panel(SCRIPT, ''), panel('</head>', '<script src="machine.js" async defer></script></head>')),
  },
  { rule: 'panel/script', name: 'nomodule', edit: panel(SCRIPT, '<script nomodule src="machine.js"></script>') },
  {
    rule: null,
    name: 'a deferred script in the head',
    edit: all(
      panel(SCRIPT, ''),
      panel('</head>', '<SCRIPT DEFER TYPE="text/JavaScript" SRC="./machine.js"></SCRIPT></head>'),
    ),
  },
  {
    rule: null,
    name: 'a comment and text after the script',
    edit: panel(SCRIPT, `${SCRIPT} done <!-- <p>last</p> -->`),
  },

  {
    rule: 'panel/manual',
    name: 'no dialog',
    edit: all(panel('<dialog data-manual', '<div data-manual'), panel('</dialog>', '</div>')),
  },
  { rule: 'panel/manual', name: 'a dialog without data-manual', edit: panel('<dialog data-manual', '<dialog') },
  {
    rule: 'panel/manual',
    name: 'an iframe outside the dialog',
    edit: panel(
      '<iframe src="manual.html" title="Operating manual"></iframe>\n</dialog>',
      '</dialog><iframe src="manual.html"></iframe>',
    ),
  },
  { rule: 'panel/manual', name: 'another page in the dialog', edit: panel('src="manual.html"', 'src="index.html"') },
  { rule: 'panel/manual', name: 'no opening control', edit: panel(' data-action="manual"', '') },
  { rule: 'panel/manual', name: 'no closing control', edit: panel(' data-action="close-manual"', '') },
  {
    rule: null,
    name: 'a dialog written oddly',
    edit: all(
      panel('<dialog data-manual', "<DIALOG DATA-MANUAL=''"),
      panel('src="manual.html"', 'SRC=./manual.html#overview'),
    ),
  },

  {
    rule: 'panel/control',
    name: 'a control that is not there',
    edit: panel('data-control="BYPASS"', 'data-control="BY-PASS"'),
  },
  {
    rule: 'panel/control',
    name: 'a control in a comment only',
    edit: (machine) => {
      const html = machine.files['index.html'];
      machine.files['index.html'] = html.replace(/<label>BYPASS.*?<\/label>/, (label) => `<!-- ${label} -->`);
    },
  },
  {
    rule: 'panel/control',
    name: 'a control in a template only',
    edit: (machine) => {
      const html = machine.files['index.html'];
      machine.files['index.html'] = html.replace(
        /<label>BYPASS.*?<\/label>/,
        (label) => `<template>${label}</template>`,
      );
    },
  },
  {
    rule: 'panel/fault',
    name: 'a fault that is not there',
    edit: panel('data-fault="belt slip"', 'data-fault="beltslip"'),
  },
  {
    rule: null,
    name: 'names in other letters, with entities and white space',
    edit: all(
      panel('data-control="BRINE PUMP"', "DATA-CONTROL='brine&nbsp;\n Pump '"),
      panel('data-fault="belt slip"', 'data-fault="Belt&#32;Slip"'),
    ),
  },
  {
    rule: 'panel/control-kinds',
    name: 'two kinds of control',
    edit: (machine) => {
      swap(machine, 'index.html', '<input type="range" min="0" max="100" value="40"', '<input type="checkbox"');
      swap(
        machine,
        'index.html',
        '<select data-control="BRINE PUMP"><option value="0">off</option><option value="1">slow</option><option value="2">fast</option></select>',
        '<button data-control="BRINE PUMP">x</button>',
      );
    },
  },
  {
    rule: null,
    name: 'three kinds by role',
    edit: (machine) => {
      swap(machine, 'index.html', '<input type="range" min="0" max="100" value="40"', '<button role="slider"');
      swap(
        machine,
        'index.html',
        '<select data-control="BRINE PUMP">',
        '<select role="SPINBUTTON" data-control="BRINE PUMP">',
      );
      swap(machine, 'index.html', '<input type="checkbox"', '<button');
    },
  },

  { rule: 'manual/sections', name: 'a missing section', edit: manual('<h2>Alarms</h2>', '<h3>Alarms</h3>') },
  {
    rule: 'manual/sections',
    name: 'sections in the wrong order',
    edit: all(
      manual('<h2>Overview</h2>', '<h2>Controls</h2>'),
      manual('<h2>Controls</h2>\n<ul>', '<h2>Overview</h2>\n<ul>'),
    ),
  },
  { rule: 'manual/sections', name: 'a heading nobody sees', edit: manual('<h2>Alarms</h2>', '<h2 hidden>Alarms</h2>') },
  {
    rule: null,
    name: 'headings written oddly, with others between',
    edit: all(
      manual('<h2>Normal operation</h2>', '<H2 id=n><span>normal</span>\n&#79;peration</H2>'),
      manual('<h2>Alarms</h2>', '<h2>Shutting down</h2><h2>Alarms</h2>'),
    ),
  },
  {
    rule: 'manual/procedure',
    name: 'steps in a <ul>',
    edit: manual(
      '<ol><li>Start the brine.</li><li>Start the motor and load it slowly.</li></ol>',
      '<ul><li>Start.</li></ul>',
    ),
  },
  {
    rule: 'manual/procedure',
    name: 'an empty <ol>',
    edit: manual(
      '<ol><li>Start the brine.</li><li>Start the motor and load it slowly.</li></ol>',
      '<ol><!-- <li>x</li> --></ol>',
    ),
  },
  {
    rule: 'manual/procedure',
    name: 'an <ol> in another section',
    edit: all(
      manual('<ol><li>Start the brine.</li><li>Start the motor and load it slowly.</li></ol>', ''),
      manual('<h2>Alarms</h2>', '<h2>Alarms</h2><ol><li>Start.</li></ol>'),
    ),
  },
  {
    rule: null,
    name: 'steps deep inside the section',
    edit: all(
      manual('<ol><li>Start the brine.', '<section><div><OL><LI>Start the brine.'),
      manual('slowly.</li></ol>', 'slowly.</ol></div></section>'),
    ),
  },
  {
    rule: 'manual/specifications',
    name: 'no table',
    edit: manual('<table><tr><th>Speed</th><td>720 rpm</td></tr></table>', '<p>720 rpm</p>'),
  },
  {
    rule: 'manual/specifications',
    name: 'a table in another section',
    edit: all(
      manual('<table><tr><th>Speed</th><td>720 rpm</td></tr></table>', ''),
      manual('<h2>Alarms</h2>', '<h2>Alarms</h2><table><tr><td>x</td></tr></table>'),
    ),
  },
  { rule: 'manual/controls', name: 'a control that is not named', edit: manual('<b>BYPASS</b>', '<b>VALVE</b>') },
  {
    rule: 'manual/controls',
    name: 'a control named inside another word only',
    edit: all(manual('<b>LOAD</b>', '<b>lever</b>'), manual('load it slowly', 'download and unload it slowly')),
  },
  {
    rule: 'manual/controls',
    name: 'a control named where no reader looks',
    edit: manual(
      '<b>BYPASS</b>',
      '<!-- BYPASS --><i hidden>BYPASS</i><i style="Display : none">BYPASS</i><img alt="BYPASS" src="data:,"><template>BYPASS</template>',
    ),
  },
  { rule: 'manual/faults', name: 'a fault that is not named', edit: manual('<b>belt slip</b>', '<b>slipping</b>') },
  {
    rule: null,
    name: 'names broken by tags, entities, soft hyphens and lines',
    edit: all(
      manual('<b>BRINE PUMP</b>', '<b>Bri&shy;ne</b>\n<i>p</i>ump'),
      manual('<b>belt slip</b>', 'Belt&nbsp;slip'),
      manual('<b>BYPASS</b>', '<b style="color:red;/*display:none*/">(bypass)</b>'),
    ),
  },
  { rule: 'manual/panel-link', name: 'no link to the panel', edit: manual('<a href="./">', '<a href="manual.html">') },
  {
    rule: 'manual/panel-link',
    name: 'a link within the manual',
    edit: manual('<a href="./">', '<a href="#overview">'),
  },
  { rule: null, name: 'a link to ./ as the index', edit: manual('<a href="./">', '<A HREF="index.html#top">') },
  { rule: null, name: 'a link to ./ as a dot', edit: manual('<a href="./">', '<a href=.>') },
];
