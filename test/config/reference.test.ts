import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { configurationReference } from '../../src/config/reference.ts';

it('docs/configuration.md is what `machinery config --reference` prints', async () => {
  expect(await readFile('docs/configuration.md', 'utf8')).toBe(configurationReference());
});
