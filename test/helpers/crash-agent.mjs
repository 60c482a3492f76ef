// What the scripted agent runs in its checkout: sets the next machine of a stock on the shelf. Started again on work that
// was cut short, it makes the same machine whole.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';

const [stock] = process.argv.slice(2);
const base = JSON.parse(execFileSync('git', ['show', 'HEAD:site/machines.json'], { encoding: 'utf8' }));
const onBase = new Set(base.map(({ slug }) => slug));
const machines = JSON.parse(readFileSync(`${stock}/machines.json`, 'utf8'));
const next = machines.find(({ slug }) => !onBase.has(slug));
cpSync(`${stock}/machines/${next.slug}`, `site/machines/${next.slug}`, { recursive: true });
const shelf = JSON.parse(readFileSync('site/machines.json', 'utf8')).filter(({ slug }) => slug !== next.slug);
writeFileSync('site/machines.json', `${JSON.stringify([...shelf, next], null, 2)}\n`);
process.stdout.write(`${next.slug} is on the shelf\n`);
