import { defineConfig } from 'vitest/config';
import { FAULTS } from './vitest.config.ts';

// eslint-disable-next-line import/no-default-export -- vitest reads it
export default defineConfig({
  test: {
    include: FAULTS,
    globalSetup: 'test/support/postgres.ts',
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
