// Works one shift as `machinery shift` does, from the built code, and kills its whole process group at one point:
//   before:<station>  after:<station>  activity:<n>          what the factory itself tells of a shift
//   rename:before:<pattern>  rename:after:<pattern>          around the rename of a file whose new path matches
//   rm:before:<pattern>  fetch:before:<pattern>  fetch:after:<pattern>
//   hook:<pre-receive|post-receive>:<pattern>                in the origin's hook, while it takes a push to a matching ref
//   none
// Nothing in the product knows of this: the calls that are wrapped are Node's own.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const [root, origin, point] = process.argv.slice(2);
const [what, when, ...rest] = point.split(':');
const pattern = new RegExp(rest.join(':'));

function die() {
  process.kill(-process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Dies at the first call whose path matches, before it or after it. */
function wrap(object, name, pathOf) {
  const real = object[name];
  object[name] = async (...args) => {
    const here = pattern.test(String(pathOf(args)));
    if (here && when === 'before') die();
    const result = await real.apply(object, args);
    if (here && when === 'after') die();
    return result;
  };
}

if (what === 'rename') wrap(fs.promises, 'rename', ([, to]) => to);
if (what === 'rm') wrap(fs.promises, 'rm', ([path]) => path);
if (what === 'fetch') wrap(globalThis, 'fetch', ([input]) => input.url ?? input);
syncBuiltinESMExports();
if (what === 'hook') fs.writeFileSync(join(origin, 'armed'), `${when}\n${rest.join(':')}\n${process.pid}\n`);

const { loadConfig } = await import('../../dist/config/load.js');
const { finishInterrupted } = await import('../../dist/shift/finish.js');
const { workShift } = await import('../../dist/shift/shift.js');
const { lock } = await import('../../dist/support/lock.js');

let calls = 0;
const watcher = {
  station: (_record, { name, status }) => {
    if (name === when && what === (status === null ? 'before' : 'after')) die();
  },
  activity: ({ kind }) => {
    if (kind === 'call') calls += 1;
    if (what === 'activity' && calls >= Number(when)) die();
  },
};
const config = await loadConfig({ cwd: root });
const held = await lock(config.data);
await finishInterrupted(config);
const record = await workShift({ config, watcher });
await held.release();
process.stdout.write(JSON.stringify(record));
