import { defineConfig } from 'vitest/config';
import { FAULTS } from './vitest.config.ts';

// eslint-disable-next-line import/no-default-export -- vitest reads it
export default defineConfig({
  test: {
    include: FAULTS,
    // One file at a time: what is timed here should not wait for the others.
    fileParallelism: false,
    globalSetup: 'test/support/postgres.ts',
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
