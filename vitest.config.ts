import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './test/support/patience.ts';

/** Generated requests, tools and clients of others, pictures of the console, and what runs in containers. */
const OF_FOLDERS = ['test/{fuzz,interop,screenshots,soak}/**/*.test.ts', 'test/shipping/compose.test.ts'];
const GATE = ['test/**/*.gate.test.ts'];
const NIGHTLY = ['test/**/*.nightly.test.ts'];

/** Suites that replace a module, which the next file in the same process would keep. */
const MOCKED = globSync('test/**/*.test.ts').filter((file) => readFileSync(file, 'utf8').includes('vi.mock('));

let suites = 0;

/** A suite of its own number of workers, which runs after the ones before it where several are run at once. */
const suite = (name: string, options: object, timeoutMs = 180_000) => ({
  extends: true as const,
  test: {
    name,
    testTimeout: timeoutMs,
    hookTimeout: 180_000,
    sequence: { groupOrder: (suites += 1) },
    ...options,
  },
});

// eslint-disable-next-line import/no-default-export -- vitest reads it
export default defineConfig({
  test: {
    globalSetup: 'test/support/postgres.ts',
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    expect: { poll: { timeout: PATIENCE_MS } },
    projects: [
      suite('service', {
        include: ['test/**/*.test.ts'],
        exclude: ['**/node_modules/**', ...GATE, ...NIGHTLY, ...OF_FOLDERS, ...MOCKED],
        // Loading the service once a file took nearly half of the processor time.
        isolate: false,
        // Tests wait for processes and timeouts much of the time, so run one more than there are cores to spare.
        maxWorkers: 3,
      }),
      suite('mocked', { include: MOCKED, maxWorkers: 3 }),
      suite('gate', { include: GATE, isolate: false, maxWorkers: 2 }),
      // One file at a time, because these start, stop and kill servers.
      suite('nightly', { include: NIGHTLY, exclude: ['test/web/**'], fileParallelism: false }),
      // Each test runs a browser beside it.
      suite('web', { include: ['test/web/**/*.nightly.test.ts'], isolate: false, maxWorkers: 2 }),
      // The events, whose statements run all the time, and what else is about the database, on the PostgreSQL of this
      // system, whose defaults (such as JIT) differ from those of the embedded server.
      suite('system', {
        include: ['test/{db,events}/**/*.test.ts', 'test/faults/feed.nightly.test.ts'],
        isolate: false,
        maxWorkers: 2,
      }),
      suite('fuzz', { include: ['test/fuzz/**/*.test.ts'] }, 300_000),
      suite('interop', { include: ['test/interop/*.test.ts'], maxWorkers: 2 }),
      // Statistics of minutes: memory and times under load.
      suite('soak', { include: ['test/soak/*.test.ts'], fileParallelism: false }),
      suite('compose', { include: ['test/shipping/compose.test.ts'] }),
      suite('screenshots', {
        include: ['test/screenshots/*.test.ts'],
        setupFiles: ['test/screenshots/setup.ts'],
        maxWorkers: 2,
      }),
    ],
  },
});
