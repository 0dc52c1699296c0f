import { defineConfig } from 'vitest/config';

/** Suites that kill, stop and start processes and servers, one after another. */
const FAULTS = [
  'test/faults/**/*.test.ts',
  'test/runtime/**/*.test.ts',
  'test/rate-limit/{limiter,limiter-cluster,redis-tls}.test.ts',
  'test/oauth/{dpop-replicas,limits}.test.ts',
  'test/rest/cost.test.ts',
  'test/unit/password-hash-threads.test.ts',
  'test/**/outage.test.ts',
  'test/jobs/{delivery,worker}.test.ts',
  'test/http/stalled-{answers,readers}.test.ts',
];

/** What `npm run test:compose` starts. */
const COMPOSE = ['test/shipping/compose.test.ts'];

/** Suites that take too long for `npm test`, and run beside each other. */
const SLOW = [
  'test/**/*races.test.ts',
  'test/**/properties.test.ts',
  'test/trpc/*-locks.test.ts',
  'test/trpc/{account,auth,auth-throttle,auth-timing,email-language,foreign-passwords,operator-area,password-turns,recent-proof,runner,sign-in-link,sign-up}.test.ts',
  'test/db/{migrations,plans,upgrade}.test.ts',
  'test/cli/!(options).test.ts',
  'test/clients/typescript-package.test.ts',
  'test/shipping/image.test.ts',
  'test/security/*.test.ts',
  'test/{rest,operator}/{access-matrix,idempotency}.test.ts',
  'test/mcp/{bounded-answers,console-reads,destructive-tools,long-lists,registration,requests,strangers}.test.ts',
  'test/operator/{export,imports,sorting,unknown-members,validation}.test.ts',
  'test/webhooks/{delivery,journey}.test.ts',
  'test/events/{chain,erasure,events,retention-plan}.test.ts',
  'test/pictures/*.test.ts',
  'test/telemetry/{metrics,redaction,tracing}.test.ts',
];

/** Suites of the nightly workflow. */
const NIGHTLY = ['test/faults/{partition,pooler-statements}.test.ts', 'test/web/every-language.test.ts'];

/** Pictures of the console, which `npm run screenshots` takes and compares. */
const SCREENSHOTS = ['test/screenshots/*.test.ts'];

/** Tools and clients of others, which `npm run test:interop` installs, and programs that use the packed client. */
const INTEROP = ['test/interop/*.test.ts', 'test/examples/{client-examples,react-app}.test.ts'];

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
    // Enough for a busy machine: only what hangs fails, and a passing test is no slower.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      suite('service', {
        include: ['test/**/*.test.ts'],
        exclude: [
          '**/node_modules/**',
          'test/web/**',
          'test/fuzz/**',
          ...SCREENSHOTS,
          ...COMPOSE,
          ...INTEROP,
          ...FAULTS,
          ...SLOW,
        ],
        // Tests wait for processes and timeouts much of the time, so run one more than there are cores to spare.
        maxWorkers: 3,
      }),
      // One file at a time, because these suites measure recovery times.
      suite('faults', { include: FAULTS, exclude: NIGHTLY, fileParallelism: false }),
      suite('slow', { include: SLOW, maxWorkers: 2 }),
      suite('nightly', { include: NIGHTLY, fileParallelism: false }),
      suite('compose', { include: COMPOSE }),
      suite('soak', {
        include: ['test/faults/memory.test.ts'],
        fileParallelism: false,
        env: { SOAK_SECONDS: '300' },
      }),
      suite('fuzz', { include: ['test/fuzz/**/*.test.ts'] }, 300_000),
      suite('interop', { include: INTEROP, maxWorkers: 2 }),
      suite('screenshots', {
        include: SCREENSHOTS,
        setupFiles: ['test/screenshots/setup.ts'],
        maxWorkers: 2,
      }),
      // Each test runs a browser beside it.
      suite('web', { include: ['test/web/**/*.test.ts'], exclude: NIGHTLY, maxWorkers: 2 }),
    ],
  },
});
