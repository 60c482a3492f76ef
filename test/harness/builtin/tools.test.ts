import { mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { argumentsOf, perform, toolsFor } from '../../../src/harness/builtin/tools/index.ts';
import type { ToolContext } from '../../../src/harness/builtin/tools/tool.ts';
import { run } from '../../../src/support/process.ts';
import { Bench } from '../../helpers/agent.ts';

let bench: Bench;
let context: ToolContext;
beforeEach(async () => {
  bench = await Bench.make();
  const signal = new AbortController().signal;
  context = { checkout: bench.checkout, temp: bench.temp, signal, maxOutput: 4000, vision: true };
});
afterEach(() => bench.remove());

const tools = toolsFor({ vision: true, context: 131_072 });
const use = async (name: string, args: object, more: Partial<ToolContext> = {}) => {
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return perform(tool, argumentsOf(tool, JSON.stringify(args)), { ...context, ...more });
};
const text = async (...given: Parameters<typeof use>) => (await use(...given)).text;

/** Whether a process is there and is more than an entry nobody has asked about yet. */
const lives = async (pid: number) => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) Z /.test(stat);
};

describe('read', () => {
  beforeEach(() => bench.put('five.txt', 'one\ntwo\nthree\nfour\nfive\n'));

  it('gives numbered lines below a header with the length of the file', async () => {
    expect(await text('read', { path: 'five.txt', startLine: 2, endLine: 3 })).toBe(
      '[five.txt lines 2-3 of 6]\n2\ttwo\n3\tthree\n',
    );
  });

  it('takes a range that reaches past either end, and says when nothing is in it', async () => {
    expect(await text('read', { path: 'five.txt', startLine: -4, endLine: 1 })).toContain('lines 1-1 of 6');
    expect(await text('read', { path: 'five.txt', startLine: 5, endLine: 99 })).toContain('lines 5-6 of 6');
    expect(await text('read', { path: 'five.txt', startLine: 20, endLine: 30 })).toContain('has 6 lines');
    expect(await text('read', { path: 'five.txt', startLine: 3, endLine: 2 })).toContain('none of them');
  });

  it('says what an image or a binary file is instead of showing its bytes', async () => {
    await bench.put(
      'a.png',
      await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
        .png()
        .toBuffer(),
    );
    await bench.put('b.bin', Buffer.from([1, 0, 2]));
    expect(await text('read', { path: 'a.png', startLine: 1, endLine: 9 })).toContain('use view');
    expect(await text('read', { path: 'b.bin', startLine: 1, endLine: 9 })).toContain('binary file, 3 bytes');
  });

  it('keeps the head and the tail of what is too long', async () => {
    await bench.put('long.txt', Array.from({ length: 5000 }, (_, n) => `line ${n + 1}`).join('\n'));
    const shown = await text('read', { path: 'long.txt', startLine: 1, endLine: 5000 });
    expect(shown.length).toBeLessThan(4100);
    expect(shown).toContain('line 1\n');
    expect(shown).toContain('line 5000\n');
    expect(shown).toMatch(/\d+ characters left out/);
  });

  it('does not wait for a pipe, and says plainly what is not there', async () => {
    await run('mkfifo', [join(bench.checkout, 'pipe')]);
    await expect(use('read', { path: 'pipe', startLine: 1, endLine: 1 })).rejects.toThrow('not a regular file');
    await expect(use('read', { path: 'no.txt', startLine: 1, endLine: 1 })).rejects.toThrow('no such file');
    await expect(use('read', { path: '.', startLine: 1, endLine: 1 })).rejects.toThrow(/regular file|folder/);
  });

  it('refuses a file that would fill the memory', async () => {
    await run('truncate', ['-s', '17M', join(bench.checkout, 'huge')]);
    await expect(use('read', { path: 'huge', startLine: 1, endLine: 1 })).rejects.toThrow('16 MiB');
  });
});

describe('write', () => {
  it('writes a whole file and makes its folders', async () => {
    expect(await text('write', { path: 'site/machines/tug/machine.css', content: 'bödy' })).toBe(
      'wrote 5 bytes to site/machines/tug/machine.css',
    );
    expect(await bench.file('site/machines/tug/machine.css')).toBe('bödy');
    await use('write', { path: 'site/machines/tug/machine.css', content: 'b' });
    expect(await bench.file('site/machines/tug/machine.css')).toBe('b');
  });

  it('inserts before a line, appends past the end, and replaces a range', async () => {
    await bench.put('f', 'a\nb\nc');
    await use('write', { path: 'f', content: 'x\ny', startLine: 2 });
    expect(await bench.file('f')).toBe('a\nx\ny\nb\nc');
    await use('write', { path: 'f', content: 'end', startLine: 99 });
    expect(await bench.file('f')).toBe('a\nx\ny\nb\nc\nend');
    expect(await text('write', { path: 'f', content: 'B', startLine: 2, endLine: 4 })).toBe('updated f');
    expect(await bench.file('f')).toBe('a\nB\nc\nend');
    await expect(use('write', { path: 'f', content: 'x', endLine: 2 })).rejects.toThrow('startLine');
  });

  it('writes scratch files below TMPDIR', async () => {
    await use('write', { path: join(bench.temp, 'notes/a.txt'), content: 'x' });
    expect(await readFile(join(bench.temp, 'notes/a.txt'), 'utf8')).toBe('x');
  });

  it('refuses every way out of the checkout, and touches nothing there', async () => {
    const outside = join(bench.root, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'kept.txt'), 'kept');
    await symlink(outside, join(bench.checkout, 'door'));
    await symlink(join(outside, 'kept.txt'), join(bench.checkout, 'link.txt'));
    await symlink(join(outside, 'new.txt'), join(bench.checkout, 'dangling.txt'));
    await symlink('../outside/new2.txt', join(bench.checkout, 'relative.txt'));
    for (const path of [
      '../outside/x.txt',
      join(outside, 'x.txt'),
      'door/x.txt',
      'door/deeper/x.txt',
      'link.txt',
      'dangling.txt',
      'relative.txt',
      'door/../../outside/x.txt',
      '/etc/machinery-test',
    ]) {
      await expect(use('write', { path, content: 'x' }), path).rejects.toThrow(/outside the checkout|leads nowhere/);
    }
    expect(await readdir(outside)).toEqual(['kept.txt']);
    expect(await readFile(join(outside, 'kept.txt'), 'utf8')).toBe('kept');
  });

  it('takes a checkout whose neighbour has a longer name for what it is', async () => {
    await mkdir(`${bench.checkout}-other`);
    await expect(use('write', { path: '../checkout-other/x', content: 'x' })).rejects.toThrow('outside the checkout');
  });

  it('does not write into a pipe or over a folder', async () => {
    await run('mkfifo', [join(bench.checkout, 'pipe')]);
    await expect(use('write', { path: 'pipe', content: 'x' })).rejects.toThrow();
    await expect(use('write', { path: '.', content: 'x' })).rejects.toThrow();
  });
});

describe('list', () => {
  it('names entries one a line, folders with a slash', async () => {
    await mkdir(join(bench.checkout, 'site'));
    expect(await text('list', { path: '.' })).toBe('AGENTS.md\nsite/\n');
    expect(await text('list', { path: 'site' })).toBe('[site is empty]');
    await expect(use('list', { path: 'AGENTS.md' })).rejects.toThrow('not a folder');
  });
});

describe('shell', () => {
  it('runs in the checkout and gives both streams in the order they came', async () => {
    expect(await text('shell', { command: 'pwd; echo to err >&2; echo "last $0 line"' })).toBe(
      `${bench.checkout}\nto err\nlast /bin/sh line\n`,
    );
  });

  it('tells the status of a command that fails, and a syntax error as the shell does', async () => {
    expect(await text('shell', { command: 'echo no; exit 3' })).toBe('no\n\n[exit: status 3]');
    expect(await text('shell', { command: 'if; then' })).toMatch(/[Ss]yntax error[\s\S]*\[exit: status 2\]/);
    expect(await text('shell', { command: 'kill -9 $$' })).toContain('[exit: ended by SIGKILL]');
  });

  it('ends a command after its time, with everything in its group, also what ignores SIGTERM', async () => {
    const command = 'trap "" TERM; (trap "" TERM; sleep 600) & echo $! > child; echo started; sleep 600';
    expect(await text('shell', { command, timeout: 1 })).toBe('started\n\n[timed out after 1 s]');
    const pid = Number(await bench.file('child'));
    await expect.poll(() => lives(pid)).toBe(false);
  });

  it('returns although a child holds its output open, and ends that child', async () => {
    const output = await text('shell', { command: 'sleep 600 & echo $! > child; echo done' });
    expect(output).toBe('done\n');
    const pid = Number(await bench.file('child'));
    await expect.poll(() => lives(pid)).toBe(false);
  });

  it('returns although a child in a session of its own holds its output open', async () => {
    const output = await text('shell', { command: 'setsid sleep 5 & echo $! > child; echo done' });
    expect(output).toBe('done\n');
    await run('sh', ['-c', `kill $(cat ${join(bench.checkout, 'child')})`]);
  });

  it('keeps the head and the tail of endless output in bounded memory', async () => {
    const output = await text('shell', { command: 'echo first; yes x | head -c 30000000; echo last' });
    expect(output.length).toBeLessThan(4100);
    expect(output).toMatch(/^first\n[\s\S]*characters left out[\s\S]*last\n$/);
  });

  it('is a failure when it cannot be started at all', async () => {
    await rm(bench.checkout, { recursive: true });
    await expect(use('shell', { command: 'true' })).rejects.toThrow('could not be started');
  });

  it('ends with the run', async () => {
    const stop = new AbortController();
    const used = use('shell', { command: 'touch started; sleep 600' }, { signal: stop.signal });
    const told = expect(used).rejects.toThrow('ended with the run');
    await expect.poll(() => bench.file('started').catch(() => null)).toBe('');
    stop.abort();
    await told;
  });
});

describe('view', () => {
  const picture = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#246' } });

  it('leaves an image that fits as it is, and scales a larger one down to 1568 px', async () => {
    const small = await picture(300, 200).jpeg().toBuffer();
    await bench.put('small.jpg', small);
    await bench.put('tall.webp', await picture(100, 4000).webp().toBuffer());
    const shown = await use('view', { path: 'small.jpg' });
    expect(shown.text).toBe('attached small.jpg (image/jpeg, 300x200)');
    expect(shown.image?.bytes.equals(small)).toBe(true);
    const scaled = await use('view', { path: 'tall.webp' });
    expect(scaled.text).toContain('scaled down to fit 1568 px');
    expect(scaled.image).toMatchObject({ mediaType: 'image/png', width: 39, height: 1568, origin: 'tall.webp' });
  });

  it('refuses what is no image, what is broken, and what would fill the memory', async () => {
    const whole = await picture(300, 300).png({ compressionLevel: 0 }).toBuffer();
    await bench.put('text.png', 'not a picture');
    await bench.put('page.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
    await bench.put('cut.png', whole.subarray(0, 900));
    await bench.put('head.png', whole.subarray(0, 8));
    const bomb = Buffer.from(whole);
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    await bench.put('bomb.png', bomb);
    await expect(use('view', { path: 'text.png' })).rejects.toThrow('is not a PNG');
    await expect(use('view', { path: 'page.svg' })).rejects.toThrow('is not a PNG');
    await expect(use('view', { path: 'cut.png' })).rejects.toThrow('cut.png cannot be shown');
    await expect(use('view', { path: 'head.png' })).rejects.toThrow('head.png cannot be shown');
    await expect(use('view', { path: 'bomb.png' })).rejects.toThrow(/cannot be shown.*(60000|pixel limit)/);
    await expect(use('view', { path: 'none.png' })).rejects.toThrow('no such file');
  });
});

describe('plan and progress', () => {
  it('acknowledge what they are told', async () => {
    expect(await text('plan', { steps: ['a', 'b'], rationale: 'so' })).toBe('plan recorded: 2 step(s) - so');
    await expect(use('plan', { steps: [] })).rejects.toThrow('needs at least one step');
    expect(await text('progress', { current: 'the dial' })).toBe('progress recorded: the dial');
    expect(await text('progress', {})).toBe('progress recorded');
    expect(await text('progress', { completed: null, current: null })).toBe('progress recorded');
  });
});
