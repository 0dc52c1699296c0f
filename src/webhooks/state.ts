import { query, type QueryRunner } from '../db/query.ts';

type State = {
  readonly lag: number;
  /**
   * How long the endpoint that waits longest has had something due that no process sends. What waits behind a request
   * to its own endpoint is not overdue: one that fails gets one request at a time.
   */
  readonly overdueSeconds: number;
  readonly undeliveredSeconds: number;
  readonly disabled: number;
  readonly failing: number;
};

// The turn that is due first, the first attempt that has no result in time, and the oldest delivery of each active
// endpoint that waits or is being sent, by an index each.
const webhookState = query<State>(
  'webhook_endpoint_count_by_state',
  `select
     coalesce((select max(sequence) from audit_link) - (select sequence from webhook_cursor where id = 1), 0)::int as lag,
     greatest(0, coalesce(extract(epoch from now() - least(
       (select min(next_at) from webhook_queue where not is_failing and next_at is not null),
       (select min(next_at) from webhook_queue where is_failing and next_at is not null),
       (select min(due_at) from webhook_delivery where state = 'sending'))), 0))::float8 as "overdueSeconds",
     greatest(0, coalesce(extract(epoch from now() - min(oldest.created_at)), 0))::float8 as "undeliveredSeconds",
     count(*) filter (where e.disabled_at is not null and e.deleted_at is null)::int as disabled,
     count(*) filter (where e.disabled_at is null and e.failing_since is not null)::int as failing
   from webhook_endpoint e
   left join lateral (
     select d.created_at from webhook_delivery d
     where d.endpoint_id = e.id and d.state in ('waiting', 'sending') and e.paused_at is null and e.disabled_at is null
     order by d.created_at limit 1
   ) oldest on true`,
  { rows: 'many' },
);

/** Reads the state of all endpoints, for metrics. */
export async function readWebhookState(db: QueryRunner): Promise<State> {
  const [state] = await db.query(webhookState, []);
  return state ?? { lag: 0, overdueSeconds: 0, undeliveredSeconds: 0, disabled: 0, failing: 0 };
}
