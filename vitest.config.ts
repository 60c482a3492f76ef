import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    reporters: ['default', './test/helpers/count-reporter.ts'],
    // Browser and whole-shift tests share two cores with Chromium: generous limits, so that only a hang fails.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // A browser that starves on a busy machine is tried again where nobody watches; a real fault fails each time.
    retry: process.env.CI ? 2 : 0,
    pool: 'forks',
    maxWorkers: 2,
  },
});
