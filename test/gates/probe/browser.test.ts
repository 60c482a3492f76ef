import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { launch } from '../../../src/gates/probe/browser.ts';
import { findChromium } from '../../../src/gates/probe/chromium.ts';
import { temporaryFolder } from '../../helpers/origin.ts';

afterEach(() => vi.unstubAllEnvs());

it('starts Chromium where the temporary folder has a name too long for its socket', async () => {
  const { folder, remove } = temporaryFolder();
  const long = join(folder, 'a-data-folder-in-a-deep-place', 'scratch', '20260504-120000-1', 'tmp');
  mkdirSync(long, { recursive: true });
  vi.stubEnv('TMPDIR', long);
  try {
    const chromium = await launch(await findChromium());
    expect(chromium.browser.version()).toMatch(/^\d+\./);
    await chromium.close();
  } finally {
    remove();
  }
});
