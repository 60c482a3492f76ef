import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { zot, zotConfig } from '../../src/harness/zot.ts';
import { type Bench, makeBench } from './bench.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await makeBench();
});
afterEach(() => bench.remove());

async function fakeZot(help: string): Promise<string> {
  const file = join(bench.folder, 'zot');
  const script = `#!/bin/sh\ncase "$1" in --version) echo 'zot 0.17.1 (release)';; --help) echo '${help}' >&2; exit 2;; esac\n`;
  await writeFile(file, script, { mode: 0o755 });
  return file;
}

describe('the zot harness', () => {
  it('tells the version of the binary', async () => {
    const path = await fakeZot('--session-dir --records-dir --rerun --fresh --resume');
    expect(await zot(path).version()).toBe('0.17.1');
  });

  it('refuses a binary that lacks an option the factory needs, by name', async () => {
    const path = await fakeZot('--session-dir --fresh --resume');
    await expect(zot(path).version()).rejects.toMatchObject({
      code: 'harness/too-old',
      message: expect.stringContaining('--records-dir, --rerun'),
    });
  });

  it('says so when there is none', async () => {
    await expect(zot('/nowhere/zot').version()).rejects.toMatchObject({ code: 'harness/cannot-start' });
  });

  it('names the provider after the real one, at the address of the relay, and writes no token down', () => {
    const text = zotConfig(bench.run);
    expect(text).not.toContain(bench.run.model.token);
    expect(parse(text)).toMatchObject({
      default_provider: 'scripted',
      providers: {
        scripted: {
          driver: 'custom',
          base_url: 'http://127.0.0.1:9/v1',
          api_key: '$MACHINERY_RELAY_TOKEN',
          models: { line: { model: 'scripted-1', vision: true, context: 32_768 } },
        },
      },
    });
  });

  it('starts a fresh run on the order, and continues a session without one', async () => {
    const fresh = await zot('/bin/zot').command(bench.run);
    expect(fresh.args.slice(-2)).toEqual(['--fresh', bench.run.order]);
    const on = await zot('/bin/zot').command({ ...bench.run, resume: '20260101-000000' });
    expect(on.args.slice(-2)).toEqual(['--resume', '20260101-000000']);
    expect(on.args.join(' ')).not.toContain(bench.run.model.token);
  });

  it('leaves findings in the checkout without following a link there, and takes old ones away', async () => {
    const elsewhere = join(bench.folder, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'findings.md'), 'mine');
    await symlink(elsewhere, join(bench.run.checkout, '.machinery'));
    await zot('/bin/zot').command({ ...bench.run, findings: 'probe/alarm: mend it' });
    expect(await readFile(join(elsewhere, 'findings.md'), 'utf8')).toBe('mine');
    const file = join(bench.run.checkout, '.machinery', 'findings.md');
    expect(await readFile(file, 'utf8')).toBe('probe/alarm: mend it');
    await zot('/bin/zot').command(bench.run);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
