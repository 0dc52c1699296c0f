import { Gauge, type Registry } from 'prom-client';

type Webhooks = {
  readonly lag: number;
  readonly overdueSeconds: number;
  readonly undeliveredSeconds: number;
  readonly disabled: number;
  readonly failing: number;
};
type Unnumbered = { readonly new: number; readonly pending: number };
type Jobs = { readonly state: string; readonly count: number; readonly ageSeconds: number };

/** The time that a scrape waits for a database query. */
const QUERY_MS = 1000;

/** Creates what is read from the database at each scrape. What cannot be read within a second is absent. */
export const createDatabaseGauges = (registers: Registry[]) => ({
  /** @param countJobs counts the jobs in the queue; if it is too slow, the scrape has no job metrics */
  watchJobs(countJobs: () => Promise<readonly Jobs[]>): void {
    const countOnce = shareResult(countJobs);
    new Gauge({
      name: 'roster_jobs',
      help: 'Jobs in the queue.',
      labelNames: ['state'],
      registers,
      async collect() {
        const jobs = await countOnce();
        this.reset();
        for (const { state, count } of jobs ?? []) this.set({ state }, count);
      },
    });
    new Gauge({
      name: 'roster_jobs_ready_age_seconds',
      help: 'Time since the oldest ready job became due.',
      registers,
      async collect() {
        const ready = (await countOnce())?.find(({ state }) => state === 'ready');
        if (ready === undefined) this.remove();
        else this.set(ready.ageSeconds);
      },
    });
  },

  /** @param readSkewMs reads how far the clock of the database is ahead; if it is too slow, the scrape has no such metric */
  watchClock(readSkewMs: () => Promise<number>): void {
    const readOnce = shareResult(readSkewMs);
    new Gauge({
      name: 'roster_database_clock_skew_seconds',
      help: 'How far the clock of the database is ahead of that of this process.',
      registers,
      async collect() {
        const skewMs = await readOnce();
        if (skewMs === undefined) this.remove();
        else this.set(skewMs / 1000);
      },
    });
  },

  /** @param readAge reads the age of the oldest event without a position; if it is too slow, the scrape has none */
  watchNumbering(readAge: () => Promise<Unnumbered>): void {
    const readOnce = shareResult(readAge);
    new Gauge({
      name: 'roster_events_unnumbered_age_seconds',
      help: 'Time since the oldest event without a position happened.',
      labelNames: ['state'],
      registers,
      async collect() {
        const age = await readOnce();
        this.reset();
        for (const [state, seconds] of Object.entries(age ?? {})) this.set({ state }, seconds);
      },
    });
  },

  /** @param readState reads the state of all endpoints; if it is too slow, the scrape has none of these metrics */
  watchWebhooks(readState: () => Promise<Webhooks>): void {
    const readOnce = shareResult(readState);
    const gauge = (name: string, help: string, select: (state: Webhooks) => number) =>
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const state = await readOnce();
          if (state === undefined) this.remove();
          else this.set(select(state));
        },
      });
    gauge('roster_webhook_sequence_lag', 'Numbered events without deliveries yet.', ({ lag }) => lag);
    gauge(
      'roster_webhook_overdue_seconds',
      'Time since the endpoint that waits longest could have been sent something.',
      ({ overdueSeconds }) => overdueSeconds,
    );
    gauge(
      'roster_webhook_undelivered_age_seconds',
      'Age of the oldest delivery that was not delivered yet, also between its attempts.',
      ({ undeliveredSeconds }) => undeliveredSeconds,
    );
    new Gauge({
      name: 'roster_webhook_endpoints',
      help: 'Endpoints that are disabled, and those whose deliveries fail.',
      labelNames: ['state'],
      registers,
      async collect() {
        const state = await readOnce();
        this.reset();
        if (state === undefined) return;
        this.set({ state: 'disabled' }, state.disabled);
        this.set({ state: 'failing' }, state.failing);
      },
    });
  },
});

/** Shares one query between concurrent callers. @returns undefined if it fails or takes too long */
function shareResult<Answer>(run: () => Promise<Answer>): () => Promise<Answer | undefined> {
  let running: Promise<Answer | undefined> | undefined;
  return () => {
    running ??= run()
      .catch(() => undefined)
      .finally(() => (running = undefined));
    return Promise.race([
      running,
      new Promise<undefined>((resolve) => setTimeout(resolve, QUERY_MS, undefined).unref()),
    ]);
  };
}
