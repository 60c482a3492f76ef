import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Measures the dataset: exporting a long session log against JSON.parse over its lines, the export's memory, and listing
 * many rows. `MACHINERY_BENCH_MB` (1000) and `MACHINERY_BENCH_ROWS` (10000) make it smaller.
 *
 * Each figure is taken in a process of its own, so that one's heap is not another's.
 */

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const MB = Number(process.env.MACHINERY_BENCH_MB ?? 1000);
const ROWS = Number(process.env.MACHINERY_BENCH_ROWS ?? 10_000);
const RUNS = 5;
const [COMPACTIONS, IMAGES] = [40, 500];
const ID = '20260504-120000';
const CODE =
  'const pressure = clamp(state.pressure + dt * (inflow - outflow) / volume, 0, 12);\n  if (pressure > 9.5) alarms.add("HIGH");\n';

/** Runs a module's text in a fresh Node and returns the JSON it prints, with the process's own time and peak memory. */
async function fresh(code) {
  const { run } = await import(join(dist, 'support', 'process.js'));
  const told = `process.stdout.write(JSON.stringify({ ...out, peak: process.resourceUsage().maxRSS * 1024 }));`;
  const started = performance.now();
  const { stdout, stderr, exitCode } = await run(process.execPath, [
    '--input-type=module',
    '-e',
    `const out = {};\n${code}\n${told}`,
  ]);
  if (exitCode !== 0) throw new Error(stderr);
  return { ...JSON.parse(stdout), whole: performance.now() - started };
}

/** Runs a command of the product on a data folder and returns how long it took, in milliseconds. */
async function command(data, ...args) {
  const { run } = await import(join(dist, 'support', 'process.js'));
  const env = { PATH: process.env.PATH, MACHINERY_CONFIG: join(data, 'factory.yaml'), MACHINERY_DATA: data };
  const started = performance.now();
  const { stderr, exitCode } = await run(process.execPath, [join(dist, 'cli', 'main.js'), ...args], { env });
  if (exitCode !== 0) throw new Error(stderr);
  return performance.now() - started;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Writes a log of about so many megabytes: 40 conversations of the same length, 500 images. @returns its largest. */
async function writeLog(folder) {
  await mkdir(join(folder, `${ID}.blobs`), { recursive: true });
  const file = createWriteStream(join(folder, `${ID}.jsonl`));
  let [at, calls, images, largest] = [Date.parse('2026-05-04T12:00:00Z'), 0, 0, 0];
  const line = async (record) => {
    at += 100;
    const text = `${JSON.stringify({ at: new Date(at).toISOString(), ...record })}\n`;
    if (!file.write(text)) await once(file, 'drain');
    return text.length;
  };
  const said = (message) => line({ kind: 'message', message });
  await line({ kind: 'meta', meta: { id: ID, task: 'A task.', model: 'm', provider: 'bench', driver: 'custom' } });
  for (let n = 0; n < COMPACTIONS; n += 1) {
    let size = 0;
    const shown = Math.ceil(((n + 1) * IMAGES) / COMPACTIONS);
    while (size < (MB * 1e6) / COMPACTIONS || images < shown) {
      calls += 1;
      const args = JSON.stringify({ path: 'site/machines/x/machine.js', content: CODE.repeat(40) });
      await line({ kind: 'event', event: { kind: 'iteration', iteration: calls } });
      size += await said({
        type: 'reasoning',
        text: 'I look at the panel again and think about the legend. '.repeat(8),
      });
      size += await said({
        type: 'activity',
        text: '',
        activity: { kind: 'request', id: `c${calls}`, name: 'write', arguments: args },
      });
      size += await said({
        type: 'activity',
        text: '',
        activity: { kind: 'response', id: `c${calls}`, name: 'write', result: CODE.repeat(60) },
      });
      if (images < shown) {
        const bytes = randomBytes(100 * 1024);
        const hex = createHash('sha256').update(bytes).digest('hex');
        await writeFile(join(folder, `${ID}.blobs`, `${hex}.png`), bytes);
        await said({
          type: 'attachment',
          text: '/tmp/x-desktop.png',
          images: [{ media_type: 'image/png', digest: `sha256:${hex}`, source: 'blob' }],
        });
        images += 1;
      }
    }
    largest = Math.max(largest, size);
    if (n < COMPACTIONS - 1) await line({ kind: 'reset' });
  }
  await line({ kind: 'result', result: { reason: 'settled', code: 0 } });
  file.end();
  await once(file, 'close');
  // On the disk, or writing it back would come into what is measured.
  const written = await open(file.path, 'r+');
  await written.sync();
  await written.close();
  return largest;
}

async function benchExport(folder) {
  const sessions = join(folder, 'sessions');
  const largest = await writeLog(sessions);
  const log = JSON.stringify(join(sessions, `${ID}.jsonl`));
  const parse = `
    const { scanLines } = await import(${JSON.stringify(join(dist, 'session', 'scan.js'))});
    const from = performance.now();
    for await (const batch of scanLines(${log})) for (const line of batch) JSON.parse(line.toString('utf8'));
    out.ms = performance.now() - from;`;
  const exported = (out) => `
    const { exportTrajectory } = await import(${JSON.stringify(join(dist, 'trajectory', 'export.js'))});
    const from = performance.now();
    await exportTrajectory({ sessions: ${JSON.stringify(sessions)}, id: '${ID}', out: ${JSON.stringify(out)} });
    out.ms = performance.now() - from;`;
  const [parses, exports, peaks, ratios] = [[], [], [], []];
  for (let n = 0; n < RUNS; n += 1) {
    const { ms: parsed } = await fresh(parse);
    parses.push(parsed);
    const target = join(folder, `out-${n}`);
    const { ms, peak } = await fresh(exported(target));
    exports.push(ms);
    peaks.push(peak);
    ratios.push(parsed / ms);
    // Its images stay to the end: ext4 is slow to make files where some have just been removed.
    await rm(join(target, ID, `${ID}.jsonl`));
  }
  const { size } = await stat(join(sessions, `${ID}.jsonl`));
  const bound = 3 * largest + 100e6;
  console.log(
    `export of a ${(size / 1e6).toFixed(0)} MB log, ${COMPACTIONS} compactions, ${IMAGES} images (median of ${RUNS})`,
  );
  console.log(`  JSON.parse over its lines  ${(median(parses) / 1000).toFixed(2)} s`);
  console.log(
    `  export                     ${(median(exports) / 1000).toFixed(2)} s, ${median(ratios).toFixed(2)} times the speed within a round (bar 0.5)`,
  );
  console.log(`  peak memory                ${(median(peaks) / 1e6).toFixed(0)} MB (bar ${(bound / 1e6).toFixed(0)})`);
}

async function benchList(folder) {
  const trajectories = join(folder, 'dataset', 'trajectories');
  const message = JSON.stringify({ role: 'user', type: 'user', content: CODE.repeat(8000) });
  for (let n = 0; n < ROWS; n += 1) {
    const at = new Date(Date.parse('2026-01-01T00:00:00Z') + n * 1_800_000).toISOString();
    const id = `${at.slice(0, 10).replaceAll('-', '')}-${at.slice(11, 19).replaceAll(':', '')}`;
    const row = {
      id,
      chain: [id],
      task: 't',
      model: `model-${n % 3}`,
      provider: 'bench',
      driver: 'd',
      started: at,
      ended: at,
      outcome: { reason: 'settled' },
      complete: true,
    };
    const machinery = {
      repository: '',
      run: id,
      commit: '',
      outcome: 'settled',
      catalogue_check: 'success',
      probe: 'success',
      committed: true,
      machine: null,
      files: {},
    };
    await mkdir(join(trajectories, id), { recursive: true });
    await writeFile(
      join(trajectories, id, `${id}.jsonl`),
      `${JSON.stringify(row).slice(0, -1)},"messages":[${message}],"machinery":${JSON.stringify(machinery)}}\n`,
    );
  }
  await writeFile(join(folder, 'factory.yaml'), 'origin: .\n');
  const first = await command(folder, 'rows', '--json');
  console.log(`${ROWS} rows of 1 MB, the whole command (medians of ${RUNS})`);
  console.log(`  the first time, without an index        ${(first / 1000).toFixed(2)} s`);
  for (const args of [
    ['rows', '--json'],
    ['rows', '--finished', '--tips', '--model', 'model-1', '--json'],
    ['rows', 'stats'],
  ]) {
    const times = [];
    for (let n = 0; n < RUNS; n += 1) times.push(await command(folder, ...args));
    const told = `machinery ${args.join(' ')}`.slice(0, 60);
    console.log(`  ${told.padEnd(60)} ${(median(times) / 1000).toFixed(2)} s (bar 1)`);
  }
}

const folder = await mkdtemp(join(process.env.MACHINERY_BENCH_FOLDER ?? tmpdir(), 'machinery-bench-dataset-'));
try {
  await benchExport(folder);
  for (const done of await readdir(folder)) await rm(join(folder, done), { recursive: true });
  await benchList(folder);
} finally {
  await rm(folder, { recursive: true, force: true });
}
