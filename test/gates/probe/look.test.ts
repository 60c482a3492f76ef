import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../../src/gates/probe/chromium.ts';
import { areTwins, hashOf, sameColourShare } from '../../../src/gates/probe/look.ts';
import { probe } from '../../../src/gates/probe/probe.ts';
import { goodMachine, writeShelf } from '../../helpers/machine.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'probe-look-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the look of a machine', () => {
  it('is known to be a twin of one probed before, under another name and in a little other paint, and of no other', async () => {
    const site = join(folder, 'site');
    const cache = join(folder, 'cache');
    const first = goodMachine();
    const repainted = goodMachine({
      slug: 'repainted',
      name: 'Harbour Ice Hall',
      palette: ['#d8cfa8', '#7a4a2c', '#b3261e'],
    });
    const other = goodMachine({ slug: 'other-one' });
    other.files['machine.css'] +=
      'body { display: grid; grid-template-columns: 500px 1fr; direction: rtl; background: repeating-linear-gradient(90deg, #222 0 120px, #eee 120px 300px); } main { order: -1; }';
    await writeShelf(site, [first, other, repainted]);
    const look = async (slug: string) => {
      const { findings } = await probe({ site, slugs: [slug], out: folder, chromium: await findChromium(), cache });
      return findings.filter(({ rule }) => rule === 'look/twin');
    };
    expect(await look(first.entry.slug)).toEqual([]);
    expect(await look(other.entry.slug)).toEqual([]);
    const [twin, ...more] = await look(repainted.entry.slug);
    expect(twin).toMatchObject({ severity: 'warning', machine: repainted.entry.slug });
    expect(twin?.message).toContain(first.entry.slug);
    expect(more).toEqual([]);
    // Not of itself, however often it is probed; and not of what can no longer be read.
    for (const name of await readdir(join(cache, 'look-1'))) await writeFile(join(cache, 'look-1', name), 'spoiled');
    expect(await look(repainted.entry.slug)).toEqual([]);
  }, 240_000);

  it('is the same picture byte for byte, and the same findings, however often it is probed', async () => {
    const site = join(folder, 'again');
    const machine = goodMachine();
    // Moved by its loop, the clock, chance and CSS at once.
    machine.files['machine.css'] +=
      '@keyframes turn { to { rotate: 360deg; } } h1 { animation: turn 3s linear infinite; }';
    machine.files['machine.js'] +=
      `;(function loop() { document.querySelector('#readout').title = Math.random() + Date.now(); document.querySelector('h1').style.opacity = 0.5 + Math.random() / 2; requestAnimationFrame(loop); })();`;
    machine.files['machine.js'] = machine.files['machine.js'].replace(
      'plant.steps += 1;',
      'plant.steps += 1; plant.load += Math.random();',
    );
    await writeShelf(site, [machine]);
    const runs: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { findings } = await probe({ site, out: folder, chromium: await findChromium(), cache: null });
      const picture = await readFile(join(folder, `${machine.entry.slug}-desktop.png`));
      runs.push(JSON.stringify(findings) + picture.toString('base64'));
    }
    expect(new Set(runs).size).toBe(1);
    expect(runs[0]).toContain('api/deterministic');
  }, 240_000);
});

describe('a picture', () => {
  const plain = (dot: number) =>
    sharp({ create: { width: 1000, height: 1000, channels: 3, background: '#123456' } })
      .composite([
        { input: { create: { width: dot, height: 10, channels: 3, background: '#ffffff' } }, left: 500, top: 500 },
      ])
      .png()
      .toBuffer();

  it('is of one colour by the share of its commonest one', async () => {
    expect(await sameColourShare(await plain(90))).toBeCloseTo(0.9991, 6);
    expect(await sameColourShare(await plain(110))).toBeCloseTo(0.9989, 6);
  });

  it('with next to nothing on it is nobody’s twin', async () => {
    const hash = await hashOf(await plain(90));
    expect(areTwins(hash, hash)).toBe(false);
  });
});
