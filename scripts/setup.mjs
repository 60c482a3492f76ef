// Sets up whatever is missing, so that `npm run shift` and `npm test` are all anyone needs: the locked dependencies,
// the build, a Chromium. Uses nothing but Node itself, because it runs before anything is installed.
// Each step says one line on stderr when it does something, and nothing when there is nothing to do.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  mkdirSync,
  chmodSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const say = (text) => process.stderr.write(`setup: ${text}\n`);

function fail(what, mend) {
  process.stderr.write(`setup: ${what}\n       ${mend}\n`);
  process.exit(2);
}

function run(command, args, what, mend) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0)
    fail(
      `${what}: \`${command} ${args.join(' ')}\` ${error ? `could not start (${error.message})` : `exited ${status}`}`,
      mend,
    );
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node ${process.versions.node} is too old`, 'Install Node 20.19 or later.');
}

const digest = (...paths) => {
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0');
  return hash.digest('hex');
};

const stampIs = (file, value) => existsSync(file) && readFileSync(file, 'utf8') === value;

/** The stamp holds the digest of the lockfile that was installed, so a changed lockfile installs again. */
function dependencies() {
  const stamp = join(root, 'node_modules', '.machinery-lock');
  const wanted = digest('package.json', 'package-lock.json');
  if (stampIs(stamp, wanted)) return;
  say('installing the locked dependencies');
  run(
    'npm',
    ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
    'the dependencies could not be installed',
    'Check the network and run it again; `npm ci` shows more.',
  );
  writeFileSync(stamp, wanted);
}

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return path === 'src/rehearsal/repertoire' ? [] : sources(path);
    return [path];
  });
}

function build() {
  const stamp = join(root, 'dist', '.built');
  const wanted = digest('package-lock.json', 'tsconfig.json', 'tsconfig.build.json', ...sources('src').sort());
  if (stampIs(stamp, wanted)) return;
  say('building');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  run(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
    'the build failed',
    'Mend the errors above; `npm run verify:types` shows them again.',
  );
  // `machinery` under its own name, for the agent's PATH.
  mkdirSync(join(root, 'dist', 'bin'), { recursive: true });
  chmodSync(join(root, 'dist', 'cli', 'main.js'), 0o755);
  symlinkSync('../cli/main.js', join(root, 'dist', 'bin', 'machinery'));
  writeFileSync(stamp, wanted);
}

async function chromium() {
  const { findChromium } = await import('../dist/gates/probe/chromium.js');
  const found = () =>
    findChromium(process.env).then(
      () => true,
      () => false,
    );
  if (process.env.CHROMIUM_PATH || (await found())) return;
  const debian = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (debian) {
    say('installing Chromium with apt-get (this takes a minute)');
    spawnSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 2, 2] });
    spawnSync(
      'apt-get',
      [
        'install',
        '-y',
        '-qq',
        '--no-install-recommends',
        'chromium-headless-shell',
        'fonts-liberation',
        'fonts-dejavu-core',
      ],
      {
        stdio: ['ignore', 'ignore', 2],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      },
    );
  } else {
    say('installing a Chromium of Playwright (this takes a minute)');
    spawnSync(process.execPath, ['node_modules/playwright-core/cli.js', 'install', 'chromium'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    });
  }
  if (await found()) return;
  fail(
    'there is no Chromium, and it could not be installed',
    'Install one (Debian: `sudo apt-get install chromium-headless-shell`), or set CHROMIUM_PATH to the executable of yours.',
  );
}

checkNode();
dependencies();
build();
if (!process.argv.includes('--build')) await chromium();
