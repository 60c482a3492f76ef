import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { chooseHarness } from '../../src/harness/index.ts';

let folder: string;
const before = process.env.ZOT_PATH;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'machinery-choose-'));
});
afterEach(async () => {
  if (before === undefined) Reflect.deleteProperty(process.env, 'ZOT_PATH');
  else process.env.ZOT_PATH = before;
  await rm(folder, { recursive: true, force: true });
});

/** A zot that speaks to the model as a harness does; it sends the image it was told to view on, or only a word about it. */
async function fakeZot(part: object): Promise<string> {
  const file = join(folder, 'zot');
  const program = `#!${process.execPath}
const fs = require('node:fs');
if (process.argv[2] === '--version') { console.log('zot 9.9.9 (release)'); process.exit(0); }
if (process.argv[2] === '--help') { console.log('--session-dir --records-dir --rerun --fresh --resume'); process.exit(0); }
fs.appendFileSync('${folder}/runs', 'x');
const config = fs.readFileSync(process.argv[process.argv.indexOf('--config') + 1], 'utf8');
const url = /base_url: (\\S+)/.exec(config)[1] + '/chat/completions';
const headers = { authorization: 'Bearer ' + process.env.MACHINERY_RELAY_TOKEN };
const ask = (content) => fetch(url, { method: 'POST', headers, body: JSON.stringify({ stream: true, messages: [{ role: 'user', content }] }) }).then((r) => r.text());
ask('begin').then(() => ask([${JSON.stringify(part)}]));
`;
  await writeFile(file, program, { mode: 0o755 });
  process.env.ZOT_PATH = file;
  return file;
}

const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const runs = () => readFile(join(folder, 'runs'), 'utf8').then((text) => text.length);

it('takes what the configuration names', async () => {
  expect((await chooseHarness('builtin', folder)).harness.name).toBe('builtin');
  expect((await chooseHarness('zot', folder)).harness.name).toBe('zot');
});

it('auto takes a zot whose images arrive at the model, and tests a binary once', async () => {
  const file = await fakeZot(IMAGE);
  const choice = await chooseHarness('auto', folder);
  expect([choice.harness.name, choice.why]).toEqual(['zot', 'zot 9.9.9: an image that it viewed arrived at the model']);
  await chooseHarness('auto', folder);
  expect(await runs()).toBe(1);
  await utimes(file, new Date(), new Date(Date.now() + 5000));
  await chooseHarness('auto', folder);
  expect(await runs()).toBe(2);
});

it('auto takes builtin where a zot drops images', async () => {
  await fakeZot({ type: 'text', text: '[image attached, "type":"image_url" is only said here]' });
  const choice = await chooseHarness('auto', folder);
  expect(choice.harness.name).toBe('builtin');
  expect(choice.why).toMatch(/^not zot 9\.9\.9: .*did not arrive/);
});

it('auto takes builtin where there is no zot, or a broken one', async () => {
  process.env.ZOT_PATH = '/nowhere/zot';
  expect(await chooseHarness('auto', folder)).toMatchObject({ why: expect.stringContaining('no usable zot') });
  await mkdir(join(folder, 'cache'));
  await fakeZot(IMAGE);
  await writeFile(join(folder, 'cache', 'self-test-zot.json'), '{"key":');
  expect((await chooseHarness('auto', folder)).harness.name).toBe('zot');
});
