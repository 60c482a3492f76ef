import { type Case, addToManual, addToPanel, addToScript, addToStyle, swap } from './bench.ts';

const HOST = 'https://cdn.example/x';

const PANEL = [
  `<img src="${HOST}">`,
  `<IMG SRC=' ${HOST}'>`,
  '<img src="//cdn.example/x">',
  '<img src="\\\\cdn.example\\x">',
  '<img src="ht&Tab;tps&colon;//cdn.example/x">',
  '<img src="http:x.png">',
  '<img src="/x.png">',
  '<img src="../other/x.png">',
  `<img srcset="data:image/png;base64,AA 1x, ${HOST} 2x" src="data:,">`,
  `<picture><source srcset="${HOST}"></picture>`,
  `<video poster="${HOST}"></video>`,
  `<audio src="${HOST}"></audio>`,
  `<object data="${HOST}"></object>`,
  `<embed src="${HOST}">`,
  `<iframe src="${HOST}"></iframe>`,
  `<iframe srcdoc="&lt;img src=${HOST}>"></iframe>`,
  `<input type="IMAGE" src="${HOST}" alt="x">`,
  `<link rel="preconnect" href="${HOST}">`,
  `<link rel="ICON" href="${HOST}">`,
  `<a href="#" ping="${HOST}">x</a>`,
  `<form action="${HOST}"></form>`,
  `<button formaction="${HOST}">x</button>`,
  `<table background="${HOST}"><tr><td>x</td></tr></table>`,
  `<p style="background: URL( '${HOST}' )">x</p>`,
  `<p style="background: u\\72l(${HOST})">x</p>`,
  `<svg><image href="${HOST}"/></svg>`,
  `<svg><use xlink:href="${HOST}#a"/></svg>`,
  `<svg><rect fill="url(${HOST}#a)"/></svg>`,
  `<svg><feImage href="${HOST}"/></svg>`,
  `<svg><image><set attributeName="href" to="${HOST}"/></image></svg>`,
  `<template><img src="${HOST}"></template>`,
  `<noscript><img src="${HOST}"></noscript>`,
  `<script src="${HOST}"></script>`,
].map((markup): Case => ({ rule: 'external/request', name: markup, edit: addToPanel(markup) }));

const PANEL_TRAPS = [
  `<a href="${HOST}">x</a>`,
  `<!-- <img src="${HOST}"> -->`,
  `<p>&lt;img src="${HOST}"></p>`,
  `<p title="${HOST}" data-src="${HOST}">x</p>`,
  '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><use href="#a"/><use xlink:href="#b"/><rect fill="url(#c)"/></svg>',
  '<img src="data:image/png;base64,AA//AA">',
  '<img src="blob:https://cdn.example/1">',
  `<blockquote cite="${HOST}">x</blockquote>`,
  `<input type="text" src="${HOST}">`,
  `<svg><a href="${HOST}"><text>x</text></a></svg>`,
  `<p style="content: '${HOST}'; /* url(${HOST}) */">x</p>`,
  `<link rel="canonical author" href="${HOST}">`,
  '<img srcset="data:image/svg+xml,%3Csvg//x 1x" src="data:,">',
  `<textarea><img src="${HOST}"></textarea>`,
  '<img src="">',
  '<p constructor="x" __proto__="x" hasownproperty>x</p>',
  `<meta name="description" content="0;url=${HOST}">`,
].map((markup): Case => ({ rule: null, name: markup, edit: addToPanel(markup) }));

const STYLE = [
  `.x { background: url(${HOST}); }`,
  `.x { background: URL( "${HOST}" ); }`,
  `.x { background: \\75rl(${HOST}); }`,
  `.x { background: u\\rl("h\\74tps://cdn.example/x"); }`,
  '.x { background: url(//cdn.example/x); }',
  `@font-face { font-family: x; src: local("x"), url('${HOST}') format("woff2"); }`,
  `.x { background: image-set("${HOST}" 1x); }`,
  `.x { --y: url(${HOST}); }`,
  `.x { cursor: url(data:,), url(${HOST}), auto; }`,
  '.x { background: url(../x.png); }',
].map((css): Case => ({ rule: 'external/request', name: css, edit: addToStyle(css) }));

const STYLE_TRAPS = [
  `/* url(${HOST}) */`,
  `.x::before { content: "url(${HOST})"; }`,
  '.x { background: url("data:image/svg+xml,%3Csvg xmlns=\'http://www.w3.org/2000/svg\'/%3E"); }',
  '.x { fill: url(#a); }',
  `.x[href="${HOST}"] { color: red; }`,
  '.x { background: image-set(url("data:,") type("image/png")); }',
].map((css): Case => ({ rule: null, name: css, edit: addToStyle(css) }));

const SCRIPT = [
  `fetch('${HOST}');`,
  `window . fetch ( "${HOST}" );`,
  `window['fetch']('${HOST}');`,
  `f\\u0065tch('ht\\x74ps://cdn.example');`,
  `fetch?.('//cdn.example');`,
  `(0, fetch)('${HOST}');`,
  `fetch.call(null, '${HOST}');`,
  `const get = window.fetch; get('${HOST}');`,
  'fetch(`https://cdn.example/$' + '{Date.now()}`);',
  "fetch('https:' + '//' + location.host);",
  `const API = '${HOST}'; fetch(API + '/y');`,
  `const C = { api: '${HOST}' }; fetch(C.api);`,
  `fetch(new URL('${HOST}'));`,
  `fetch(new Request('${HOST}'));`,
  `fetch(Math.random() > 2 ? 'data:,' : '${HOST}');`,
  `import('${HOST}');`,
  `const q = new XMLHttpRequest(); q.open('get', '${HOST}');`,
  "new WebSocket('wss://cdn.example');",
  `new EventSource('${HOST}');`,
  `new Worker('${HOST}');`,
  `new window.Audio('${HOST}');`,
  `navigator.sendBeacon('${HOST}', '');`,
  `new Image().src = '${HOST}';`,
  `document.createElement('img')['src'] = '${HOST}';`,
  `document.body.setAttribute('SRC', '${HOST}');`,
  `Object.assign(new Image(), { src: '${HOST}' });`,
  "new Image().src = ' \\n//cdn.example/x';",
  `String.raw\`x\`; fetch(String.raw\`${HOST}\`);`,
  "fetch('/api');",
].map((code): Case => ({ rule: 'external/request', name: code, edit: addToScript(code) }));

const SCRIPT_TRAPS = [
  `// fetch('${HOST}')`,
  `/* new Image().src = '${HOST}' */`,
  `const s = "fetch('${HOST}')"; s.length;`,
  `const re = /fetch\\('https:\\/\\/x'\\)/; re.test('');`,
  "document.createElementNS('http://www.w3.org/2000/svg', 'path');",
  "new Image().src = 'data:image/png;base64,AA//';",
  "new Image().src = 'blob:https://cdn.example/1';",
  `const docs = '${HOST}'; docs.trim();`,
  `const o = { fetch(x) { return x; } }; o.fetch('${HOST}');`,
  `const local = (() => { function fetch(x) { return x; } return fetch('${HOST}'); })(); local;`,
  `document.title = '${HOST}';`,
  'new Image().src = `data:image/svg+xml,$' + '{encodeURIComponent(\'<svg xmlns="http://www.w3.org/2000/svg"/>\')}`;',
  "new Worker(URL.createObjectURL(new Blob(['fetch(1)'])));",
  "const dialog = { open() {} }; dialog.open('left', '//label');",
  `const given = (x) => fetch(x); given.name;`,
  `new Error('${HOST}');`,
  `const a = document.createElement('a'); a.href = '${HOST}';`,
  "fetch('data:,' + 'https://x');",
  `const img = { src: '' }; img.src == '${HOST}';`,
].map((code): Case => ({ rule: null, name: code, edit: addToScript(code) }));

export const REQUEST_CASES: Case[] = [
  ...PANEL,
  ...PANEL_TRAPS,
  ...STYLE,
  ...STYLE_TRAPS,
  ...SCRIPT,
  ...SCRIPT_TRAPS,
  {
    rule: 'external/request',
    name: 'a refresh in the manual',
    edit: (machine) =>
      swap(
        machine,
        'manual.html',
        '<meta charset="utf-8">',
        `<meta charset="utf-8"><META HTTP-EQUIV=Refresh CONTENT="5; URL='${HOST}'">`,
      ),
  },
  {
    rule: 'external/request',
    name: 'a base elsewhere',
    edit: (machine) =>
      swap(machine, 'manual.html', '<meta charset="utf-8">', `<meta charset="utf-8"><base href="${HOST}/">`),
  },
  {
    rule: 'external/request',
    name: 'an @import',
    edit: (machine) => {
      machine.files['machine.css'] = `@IMPORT "${HOST}";${machine.files['machine.css']}`;
    },
  },
  {
    rule: null,
    name: 'a @namespace',
    edit: (machine) => {
      machine.files['machine.css'] = `@namespace svg url(http://www.w3.org/2000/svg);${machine.files['machine.css']}`;
    },
  },
  {
    rule: null,
    name: 'a refresh of the same page',
    edit: (machine) =>
      swap(
        machine,
        'manual.html',
        '<meta charset="utf-8">',
        '<meta charset="utf-8"><meta http-equiv="refresh" content="300">',
      ),
  },
  { rule: 'external/request', name: 'an image in the manual', edit: addToManual(`<img src="${HOST}">`) },
];
