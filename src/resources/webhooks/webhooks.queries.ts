import type { Services } from '../../service/services.ts';
import { iso, query, type QueryRunner } from '../../db/query.ts';
import type { DeliveryState } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Cursors } from '../../procedures/cursors.ts';
import { presentWithKey } from './endpoints.service.ts';
import { canSee, teamOf, type Held, type Owner } from './owner.ts';
import type { DeliveryPage } from './webhooks.schema.ts';

type EndpointRow = {
  id: string;
  url: string;
  types: string[];
  secret: string;
  accountId: string | null;
  pausedAt: string | null;
  disabledAt: string | null;
  disabledReason: string | null;
  failingSince: string | null;
  previousExpiresAt: string | null;
  isOverlapping: boolean;
  createdAt: string;
};

const endpointsOfOwner = query<EndpointRow>(
  'webhook_endpoint_list_of_owner',
  `select id, url, types, secret, account_id as "accountId", paused_at as "pausedAt", disabled_at as "disabledAt",
     disabled_reason as "disabledReason", failing_since as "failingSince", previous_expires_at as "previousExpiresAt",
     coalesce(previous_expires_at > now(), false) as "isOverlapping", created_at as "createdAt"
   from webhook_endpoint
   where (team_id = $1 or $1::text is null and team_id is null) and deleted_at is null order by id`,
);

/** Lists the endpoints of an owner, oldest first. */
export async function listEndpoints(services: Services, owner: Owner) {
  const rows = await services.db.query(endpointsOfOwner, [teamOf(owner)]);
  return rows.map(({ accountId, ...row }) =>
    presentWithKey(services, {
      ...row,
      account: accountId === null ? null : { id: accountId },
      failingSince: dateOrNull(row.failingSince),
      previousExpiresAt: dateOrNull(row.previousExpiresAt),
      createdAt: new Date(row.createdAt),
    }),
  );
}

const dateOrNull = (at: string | null): Date | null => (at === null ? null : new Date(at));

const endpointOfOwner = query<object>(
  'webhook_endpoint_check_owner',
  'select from webhook_endpoint where id = $1 and team_id is not distinct from $2 and deleted_at is null',
);

type Row = {
  id: string;
  event_id: string | null;
  event: string;
  state: DeliveryState;
  reason: string | null;
  due_at: string;
  created_at: string;
  attempts: readonly {
    at: string;
    status: number | null;
    durationMs: number;
    error: string | null;
    answer: string | null;
  }[];
};

const deliveriesOfEndpoint = query<Row>(
  'webhook_delivery_list_of_endpoint',
  `select d.id, d.event_id, d.event, d.state, d.reason, d.due_at, d.created_at, coalesce(a.attempts, '[]') as attempts
   from (
     select * from webhook_delivery
     where endpoint_id = $1 and ($2::text is null or id < $2) and ($3::text is null or state = $3)
     order by id desc limit $4
   ) d
   left join lateral (
     select jsonb_agg(jsonb_build_object('at', created_at, 'status', status, 'durationMs', duration_ms,
       'error', error, 'answer', answer) order by id desc) as attempts
     from (select * from webhook_attempt where delivery_id = d.id order by id desc limit 20) latest
   ) a on true
   order by d.id desc`,
  { rows: 'many' },
);

type Page = {
  readonly endpointId: string;
  readonly state?: DeliveryState | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/**
 * Lists deliveries of an endpoint, newest first, each with its latest 20 attempts. Receivers often repeat what they got, so
 * answers to events that the caller may not see are left out.
 */
export async function listDeliveries(
  db: QueryRunner,
  cursors: Cursors,
  owner: Owner,
  held: Held,
  { endpointId, state, cursor, limit }: Page,
): Promise<DeliveryPage> {
  const [endpoint] = await db.query(endpointOfOwner, [endpointId, teamOf(owner)]);
  if (endpoint === undefined) throw new ProblemError('webhook_endpoint_not_found');
  const list = ['deliveries', endpointId, state] as const;
  const { id: before = null } = cursors.read(list, cursor) ?? {};
  const rows = await db.query(deliveriesOfEndpoint, [endpointId, before, state ?? null, limit + 1]);
  const deliveries = rows.slice(0, limit).map((row) => ({
    deliveryId: row.id,
    webhookId: row.event_id ?? row.id,
    type: row.event,
    state: row.state,
    reason: row.reason,
    attempts: row.attempts.map((attempt) => ({
      ...attempt,
      at: iso(attempt.at),
      answer: canSee(held, row.event) ? attempt.answer : null,
    })),
    nextAttemptAt: row.state === 'waiting' ? iso(row.due_at) : null,
    createdAt: iso(row.created_at),
  }));
  const last = rows.length > limit ? rows.at(limit - 1) : undefined;
  return { deliveries, nextCursor: last === undefined ? null : cursors.write(list, { sort: '', id: last.id }) };
}
