import { defineConfig } from 'vitest/config';

/** Processes that are killed and stopped, calls that race, files and rows that are tampered with, and what takes whole services: `vitest.faults.config.ts`. */
export const FAULTS = [
  'test/faults/**/*.test.ts',
  'test/runtime/**/*.test.ts',
  'test/http/limiter-cluster.test.ts',
  'test/**/outage.test.ts',
  'test/**/*races.test.ts',
  'test/**/properties.test.ts',
  'test/shipping/image.test.ts',
  'test/cli/backup.test.ts',
  'test/audit/chain.test.ts',
  'test/observe/{redaction,tracing}.test.ts',
];

// eslint-disable-next-line import/no-default-export -- vitest reads it
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // In a browser: `vitest.web.config.ts`; tens of thousands of requests: `vitest.fuzz.config.ts`.
    exclude: ['test/web/**', 'test/fuzz/**', ...FAULTS],
    globalSetup: 'test/support/postgres.ts',
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // Much of the time is waiting for processes and time-outs, so one more than most machines have cores to spare.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
