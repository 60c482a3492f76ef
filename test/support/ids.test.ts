import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareIds } from '../../src/shift/record.ts';
import { claimFolder } from '../../src/support/ids.ts';

it('claims one id for each of many who ask in the same second', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'machinery-ids-'));
  const at = new Date('2026-01-05T09:30:07.250Z');
  const ids = await Promise.all(Array.from({ length: 12 }, () => claimFolder(parent, at)));
  expect(new Set(ids).size).toBe(12);
  expect([...ids].sort(compareIds)[0]).toBe('20260105-093007');
  expect([...ids].sort(compareIds).at(-1)).toBe('20260105-093007-12');
  expect(await readdir(parent)).toHaveLength(12);
  await rm(parent, { recursive: true });
});
