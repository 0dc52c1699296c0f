import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './test/support/patience.ts';

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
  'test/trpc/passwords-with-names.test.ts',
  'test/trpc/{account,auth,auth-cookies,auth-secrets,auth-throttle,browser-client,deletion-privacy,effect-notices,effects,email-language,foreign-passwords,granting,invitation-links,large-deletes,link-checks,operator-area,password-turns,recent-proof,remaining-access,session-proofs,sessions-started,sign-in-link,sign-in-work,sign-up,unknown-addresses,ways-in}.test.ts',
  'test/trpc/{audit,console-access,first-party,grant-ends,notices,oauth-clients,passkeys}.test.ts',
  'test/oauth/{families,first-party,ways}.test.ts',
  'test/jobs/{cleanup,email-languages,invitation-mail}.test.ts',
  'test/rest/rate-limit.test.ts',
  'test/pages/dev-mail.test.ts',
  'test/db/{migrations,plans,upgrade}.test.ts',
  'test/http/last-catch.test.ts',
  'test/jobs/step-cost.test.ts',
  'test/rest/{fairness,reset-connections,shrinking-lists}.test.ts',
  'test/cli/!(options).test.ts',
  'test/clients/{server-kit-faults,typescript-client,typescript-package}.test.ts',
  'test/shipping/image.test.ts',
  'test/security/*.test.ts',
  'test/{rest,operator}/{access-matrix,idempotency}.test.ts',
  'test/trpc/access-matrix.test.ts',
  'test/mcp/{bounded-answers,console-reads,destructive-tools,long-lists,registration,requests,strangers}.test.ts',
  'test/operator/{export,imports,sorting,unknown-members,validation}.test.ts',
  'test/webhooks/{delivery,journey,state}.test.ts',
  'test/events/{catalogue,chain-attacks,copied-tables,copies,denials,erasure,events,feed,feed-wait,operator-reads,partitions,repeated,request-ids,retention-plan,sequencer}.test.ts',
  'test/pictures/*.test.ts',
  'test/telemetry/{metrics,redaction,tracing}.test.ts',
];

/**
 * Suites that also run on the PostgreSQL of this system, whose defaults (such as JIT) differ from those of the embedded
 * server: the events, whose statements run all the time, and the lists and changes of the most used resources.
 */
const ON_SYSTEM = [
  'test/db/plans.test.ts',
  'test/events/{feed,retention-plan,sequencer}.test.ts',
  'test/faults/feed.test.ts',
];

/** Suites of the nightly workflow. */
const NIGHTLY = [
  'test/events/chain.test.ts',
  'test/{interop/{inspector,more-products},oauth/apache}.test.ts',
  'test/faults/{credentials,failover,idempotency,import,import-upload,mail,memory,partition,pooler,pooler-statements,silence,tls,webhooks}.test.ts',
  'test/runtime/{embedded-damage,start-failures,workers-end}.test.ts',
  'test/http/stalled-answers.test.ts',
  'test/trpc/{address-times,deletion-privacy,email-language,foreign-passwords,large-deletes}.test.ts',
  // Each command is a process, and these start all of them, with every fault.
  'test/cli/{audit,backup,endings,import,installation,manage,oauth-client,output,queue,secrets,team,webhook}.test.ts',
  'test/mcp/{bounded-answers,long-lists}.test.ts',
  'test/rest/{fairness,reset-connections,shrinking-lists}.test.ts',
  'test/telemetry/redaction.test.ts',
  'test/web/{accessibility-team,double-clicks,every-language,kept-entries,plain-pages,row-menus,stability}.test.ts',
];

/** Suites that replace a module, which the next file in the same process would keep. */
const MOCKED = globSync('test/**/*.test.ts').filter((file) => readFileSync(file, 'utf8').includes('vi.mock('));
const IS_NIGHTLY = new Set(globSync(NIGHTLY));
const IS_SLOW = new Set(globSync(SLOW).filter((file) => !IS_NIGHTLY.has(file)));

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
    expect: { poll: { timeout: PATIENCE_MS } },
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
          ...NIGHTLY,
          ...MOCKED,
        ],
        // Loading the service once a file took nearly half of the processor time.
        isolate: false,
        // Tests wait for processes and timeouts much of the time, so run one more than there are cores to spare.
        maxWorkers: 3,
      }),
      suite('mocked', {
        include: MOCKED.filter((file) => !IS_SLOW.has(file) && !IS_NIGHTLY.has(file)),
        maxWorkers: 3,
      }),
      // One file at a time, because these suites measure recovery times.
      suite('faults', { include: FAULTS, exclude: NIGHTLY, fileParallelism: false }),
      suite('slow', { include: SLOW, exclude: [...MOCKED, ...NIGHTLY], isolate: false, maxWorkers: 2 }),
      suite('slow-mocked', { include: MOCKED.filter((file) => IS_SLOW.has(file)), maxWorkers: 2 }),
      suite('system', { include: ON_SYSTEM, isolate: false, maxWorkers: 2 }),
      suite('nightly', {
        include: [...NIGHTLY, 'test/faults/jit.test.ts', 'test/trpc/credential-locks.test.ts'],
        fileParallelism: false,
        env: { WITH_EVERY_KIND: 'true' },
      }),
      suite('compose', { include: COMPOSE }),
      suite('soak', {
        include: ['test/faults/memory.test.ts'],
        fileParallelism: false,
        env: { SOAK_SECONDS: '300' },
      }),
      suite('fuzz', { include: ['test/fuzz/**/*.test.ts'] }, 300_000),
      suite('interop', { include: INTEROP, exclude: NIGHTLY, maxWorkers: 2 }),
      suite('screenshots', {
        include: SCREENSHOTS,
        setupFiles: ['test/screenshots/setup.ts'],
        maxWorkers: 2,
      }),
      // Each test runs a browser beside it.
      suite('web', { include: ['test/web/**/*.test.ts'], exclude: NIGHTLY, isolate: false, maxWorkers: 2 }),
    ],
  },
});
