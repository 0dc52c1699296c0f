import { defineConfig } from 'vitest/config';

// eslint-disable-next-line import/no-default-export -- vitest reads it
export default defineConfig({
  test: {
    include: ['test/web/**/*.test.ts'],
    globalSetup: 'test/support/postgres.ts',
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // Beside the browser of each there is little left of a core.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
