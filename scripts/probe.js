#!/usr/bin/env node
// The probe gate from a checkout: the installed `machinery` does the work, else the one built from this repository.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'cli', 'main.js');

function installed() {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, 'machinery');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

const machinery = installed();
if (!machinery && !existsSync(built)) {
  console.error('error: machinery is neither on the PATH nor built here\n mend: run `npm run build` in the repository');
  process.exit(2);
}
const [file, before] = machinery ? [machinery, []] : [process.execPath, [built]];
const child = spawn(file, [...before, 'probe', ...process.argv.slice(2)], { stdio: 'inherit' });
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
child.on('error', (error) => {
  console.error(`error: ${file} does not start: ${error.message}`);
  process.exit(2);
});
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else process.exit(code ?? 2);
});
