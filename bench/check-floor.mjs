// The floor that check is measured against: every file of a shelf parsed once, in one thread, and nothing else.
// Usage: node bench/check-floor.mjs SITE
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseScript } from 'acorn';
import { parse as parseStyle } from 'css-tree';
import { parse as parsePage } from 'parse5';

const machines = join(process.argv[2], 'machines');
for (const slug of readdirSync(machines)) {
  const text = (name) => readFileSync(join(machines, slug, name), 'utf8');
  parsePage(text('index.html'));
  parsePage(text('manual.html'));
  parseStyle(text('machine.css'));
  parseScript(text('machine.js'), { ecmaVersion: 'latest' });
}
