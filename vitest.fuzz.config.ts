import { defineConfig } from 'vitest/config';

// eslint-disable-next-line import/no-default-export -- vitest reads it
export default defineConfig({
  test: {
    include: ['test/fuzz/**/*.test.ts'],
    globalSetup: 'test/support/postgres.ts',
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
