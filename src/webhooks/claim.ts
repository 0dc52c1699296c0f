import type { Pool } from 'pg';
import { activeMembership } from '../db/predicates.ts';
import type { Permission } from '../entities/index.ts';
import { inTransaction } from '../events/chain/sql.ts';
import type { DeliveredRow } from '../events/feed/read.ts';
import { SECOND_MS } from '../time.ts';
import { SCHEDULE_MS } from './retry.ts';
import type { Free } from './slots.ts';
import { SLOW_SECONDS } from './slots.ts';

/** How many requests an endpoint gets at a time, in all processes together; one while it fails. */
export const CONCURRENCY_PER_ENDPOINT = 5;

/** After this time, a process that has not noted a result counts as stopped: four times the longest attempt. */
const LEASE_SECONDS = 60;

/** A delivery that this process has to attempt now. */
export type Claim = {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string | null;
  readonly type: string;
  readonly created_at: string;
  /** Whether it is older than the time of all attempts. */
  readonly is_overdue: boolean;
  /** Includes the attempt that is to be made. */
  readonly attempts: number;
  readonly url: string;
  readonly team_id: string | null;
  readonly secret: string;
  /** Null unless it still signs. */
  readonly previous_secret: string | null;
  /** Null if the event is no longer kept. */
  readonly row: DeliveredRow | null;
  /** Whether the responsible account is a member of the team. Null for an endpoint of the installation. */
  readonly is_member: boolean | null;
  /** Null unless the member is active and their account is not disabled. */
  readonly permissions: readonly Permission[] | null;
  /** Whether the last attempt of the endpoint failed. */
  readonly is_failing: boolean;
};

/**
 * Claims due deliveries for this process, of the endpoints that have waited longest for their turn. What an endpoint
 * is being sent is counted in a statement after the one that locks its turn, so that no process exceeds the limit.
 * Turns that others hold are skipped, so that nothing waits.
 */
export const claimDeliveries = (pool: Pool, free: Free): Promise<Claim[]> =>
  inTransaction(pool, async (tx) => {
    const turns = await tx.execute<{ id: string }[]>(LOCK_TURNS, [free.healthy, free.failing]);
    if (turns.length === 0) return [];
    return tx.execute<Claim[]>(CLAIM, [JSON.stringify(turns.map(({ id }) => id)), free.failing, free.healthy]);
  });

const lockTurns = (isFailing: boolean): string =>
  `select endpoint_id as id from webhook_queue where is_failing = ${isFailing} and next_at <= now()
   order by next_at limit ? for update skip locked`;

const LOCK_TURNS = `
  with healthy as (${lockTurns(false)}), failing as (${lockTurns(true)})
  select id from healthy union all select id from failing`;

const CLAIM = `
  with turn as (
    select e.id, q.is_failing, q.next_at, e.held_until, sending.is_slow,
      case when e.paused_at is null and e.disabled_at is null then
        case when e.failing_since is null then ${CONCURRENCY_PER_ENDPOINT} else 1 end - sending.number end as room
    from jsonb_array_elements_text(?::jsonb) as locked (id)
    join webhook_endpoint e on e.id = locked.id
    join webhook_queue q on q.endpoint_id = e.id
    cross join lateral (
      select count(*)::int as number,
        coalesce(bool_or(s.due_at < now() + interval '${LEASE_SECONDS - SLOW_SECONDS} seconds'), false) as is_slow
      from webhook_delivery s where s.endpoint_id = e.id and s.state = 'sending'
    ) sending
  ), due as (
    select d.id, t.is_failing, row_number() over (partition by t.is_failing order by d.rank, t.next_at) as place
    from turn t cross join lateral (
      select x.id, row_number() over (order by x.due_at, x.id) as rank from (
        select w.id, w.due_at from webhook_delivery w
        where w.endpoint_id = t.id and w.state = 'waiting' and w.due_at <= now()
        order by w.due_at, w.id limit greatest(0, t.room) for update skip locked
      ) x
    ) d
    where t.room > 0 and not t.is_slow and (t.held_until is null or t.held_until <= now())
  ), claimed as (
    update webhook_delivery d
    set state = 'sending', due_at = now() + interval '${LEASE_SECONDS} seconds', attempts = d.attempts + 1
    from due where d.id = due.id and due.place <= case when due.is_failing then ?::int else ?::int end
    returning d.*
  ), next as (
    select t.id, case
        when t.room is null then null
        when t.held_until > now() then t.held_until
        when t.is_slow or t.room <= taken.number then null
        else (select greatest(w.due_at, now()) from webhook_delivery w
              where w.endpoint_id = t.id and w.state = 'waiting' order by w.due_at offset taken.number limit 1)
      end as at
    from turn t
    cross join lateral (select count(*)::int as number from claimed c where c.endpoint_id = t.id) taken
  ), noted as (
    update webhook_queue q set next_at = next.at from next where q.endpoint_id = next.id
  )
  select d.id, d.endpoint_id, d.event_id, d.event as type, to_jsonb(d.created_at) #>> '{}' as created_at, d.attempts,
    d.created_at < now() - interval '${SCHEDULE_MS / SECOND_MS} seconds' as is_overdue,
    w.url, w.team_id, w.secret, case when w.previous_expires_at > now() then w.previous_secret end as previous_secret,
    case when e.id is not null
      then to_jsonb(e) - 'mac' || jsonb_build_object('type', coalesce(p.type, d.event), 'data', p.data) end as row,
    case when w.team_id is not null then m.id is not null end as is_member,
    case when ${activeMembership('m')} and a.disabled_at is null then to_jsonb(r.permissions) end as permissions,
    w.failing_since is not null as is_failing
  from claimed d
  join webhook_endpoint w on w.id = d.endpoint_id
  left join audit_event e on e.id = d.event_id
  left join audit_link l on l.event_id = d.event_id
  left join event_payload p on p.sequence = l.sequence
  left join membership m on m.team_id = w.team_id and m.account_id = w.account_id
  left join role r on r.id = m.role_id
  left join account a on a.id = m.account_id
  order by d.id`;
