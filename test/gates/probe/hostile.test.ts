import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GateReport } from '../../../src/gates/finding.ts';
import { findChromium } from '../../../src/gates/probe/chromium.ts';
import { probe } from '../../../src/gates/probe/probe.ts';
import { goodMachine, writeShelf } from '../../helpers/machine.ts';

/** Code put at the top of machine.js, and what must be told of it; null where all that counts is that the probe ends. */
const HOSTILE: { title: string; code: string; rule: string | null; says?: string }[] = [
  {
    title: 'loops for ever while it loads',
    code: 'for (;;);',
    rule: 'run/hang',
    says: 'Not run because of it: measuring the panel',
  },
  {
    title: 'loops for ever in its animation frame',
    code: 'requestAnimationFrame(() => { for (;;); });',
    rule: 'run/hang',
    says: 'loading the panel',
  },
  {
    title: 'queues microtasks for ever',
    code: '(function again() { Promise.resolve().then(again); })();',
    rule: 'run/hang',
  },
  {
    title: 'uses memory without end',
    code: 'const hog = []; for (;;) hog.push(new Array(1e5).fill({}).map(() => ({ a: 1 })));',
    rule: null,
  },
  { title: 'reloads itself for ever', code: 'location.reload();', rule: null },
  { title: 'goes over to its manual', code: "location.href = 'manual.html';", rule: 'run/exception', says: 'left for' },
  {
    title: 'asks the visitor things',
    code: "alert('a'); confirm('b'); prompt('c'); addEventListener('beforeunload', (e) => e.preventDefault());",
    rule: '',
  },
  {
    title: 'opens windows',
    code: "for (let n = 0; n < 5; n += 1) window.open('https://example.com/' + n);",
    rule: 'run/external-request',
  },
  {
    title: 'floods the console',
    code: "for (let n = 0; n < 200000; n += 1) console.error('flood', n);",
    rule: 'run/console-error',
    says: 'more like it',
  },
  {
    title: 'breaks the built-ins',
    code: "JSON.stringify = () => '{'; Array.prototype.map = () => { throw new Error('no map'); }; Object.keys = () => ['x']; Array.prototype.push = null; String.prototype.trim = () => 7; Promise = null;",
    rule: null,
  },
  {
    title: 'has a machine nobody can read',
    code: "Object.defineProperty(window, 'machine', { get() { throw new Error('private'); }, set() {} });",
    rule: 'run/exception',
    says: 'private',
  },
  {
    title: 'has a state of a hundred thousand keys',
    code: "Object.defineProperty(window, 'machine', { set(m) { this.m = { ...m, state: () => { const s = { alarms: [] }; for (let n = 0; n < 1e5; n += 1) s['k' + n] = n; return s; } }; }, get() { return this.m; } });",
    rule: 'api/shape',
    says: 'more than',
  },
  {
    title: 'has a state without a bottom',
    code: "const deep = () => new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (_, key) => (key === 'alarms' ? [] : deep()) }); Object.defineProperty(window, 'machine', { set(m) { this.m = { ...m, state: deep }; }, get() { return this.m; } });",
    rule: 'api/shape',
    says: 'deep',
  },
  {
    title: 'starts timers without end',
    code: 'const more = () => { setTimeout(more, 0); setTimeout(more, 0); }; setTimeout(more, 0);',
    rule: null,
  },
];

const machines = HOSTILE.map((given, at) => ({ ...given, slug: `hostile-${at}` }));
let folder: string;
let report: GateReport;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'probe-hostile-'));
  await writeShelf(
    join(folder, 'site'),
    machines.map(({ slug, code }) => {
      const machine = goodMachine({ slug });
      machine.files['machine.js'] = `${code}\n${machine.files['machine.js']}`;
      return machine;
    }),
  );
  report = await probe({
    site: join(folder, 'site'),
    slugs: machines.map(({ slug }) => slug),
    out: join(folder, 'out'),
    chromium: await findChromium(),
    cache: null,
  });
}, 600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(machines)('a machine that $title', ({ slug, rule, says }) => {
  it(
    rule === '' ? 'is judged like any other' : `is reported as ${rule ?? 'whatever it is'}, with its pictures`,
    async () => {
      const found = report.findings.filter(({ machine }) => machine === slug);
      if (rule === '') expect(found).toEqual([]);
      else if (rule)
        expect(
          found
            .filter((finding) => finding.rule === rule)
            .map(({ message }) => message)
            .join('\n'),
        ).toMatch(says ?? /./);
      expect(found.length).toBeLessThan(60);
      for (const name of ['desktop', 'phone', 'manual']) {
        const { width } = await sharp(await readFile(join(folder, 'out', `${slug}-${name}.png`))).metadata();
        expect(width).toBe(name === 'phone' ? 390 : 1440);
      }
    },
  );
});
