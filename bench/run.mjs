// `npm run bench [name…]`: runs the benches, each in a process of its own. Without a name, all of them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Every bench and what it measures; a bench is a file of that name here. */
const BENCHES = {
  shift: "the orchestrator's own time in a shift, and a whole rehearsal shift, on an empty shelf and a full one",
  gates:
    'check on a shelf of 250 machines, against parsing every file once; the probe, against a script that opens the same pages',
  relay: 'what the relay adds to a request',
  dataset: 'export of a long session log, and listing many rows',
  crash: 'a factory that is killed again and again, at random points',
  'long-run': 'start-up and idle memory of the factory, and a month of ticks',
  console: 'pages of a control room with many shifts, and followers of a log',
};

const folder = dirname(fileURLToPath(import.meta.url));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(
    `error: no bench is called ${unknown.join(', ')}\n mend: take some of ${Object.keys(BENCHES).join(', ')}`,
  );
  process.exit(2);
}
let failed = false;
for (const name of asked.length > 0 ? asked : Object.keys(BENCHES)) {
  const file = join(folder, `${name}.mjs`);
  if (!existsSync(file)) continue;
  console.log(`\n${name}: ${BENCHES[name]}`);
  failed = spawnSync(process.execPath, [file], { stdio: 'inherit' }).status !== 0 || failed;
}
process.exitCode = failed ? 1 : 0;
