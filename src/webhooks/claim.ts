import type { Database } from '../db/database.ts';
import { activeMembership } from '../db/predicates.ts';
import type { Permission } from '../entities/index.ts';
import type { DeliveredRow } from '../events/feed/read.ts';
import { transaction } from '../transactions/transaction.ts';

/** How many requests an endpoint gets at a time, in all processes together; one while it fails. */
export const CONCURRENCY_PER_ENDPOINT = 5;

/** After this time, a process that has not noted a result counts as stopped: four times the longest attempt. */
const LEASE_SECONDS = 60;
/** An endpoint with a request of this age gets no further one, because it may hang. */
export const SLOW_SECONDS = 0.5;

/** A delivery that this process has to attempt now. */
export type Claim = {
  readonly id: string;
  readonly endpoint_id: string;
  readonly event_id: string | null;
  readonly type: string;
  readonly created_at: string;
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
  /** Null unless the member is active. */
  readonly permissions: readonly Permission[] | null;
};

/**
 * Claims up to `free` due deliveries for this process. Counts those that an endpoint is being sent under a lock of the
 * endpoint, so that no process exceeds the limit. Locks that others hold are skipped.
 */
export const claimDeliveries = (db: Database, free: number): Promise<Claim[]> =>
  transaction(db, async (tx) => {
    const endpoints = await tx.execute<{ id: string }[]>(LOCK_DUE_ENDPOINTS, [free]);
    if (endpoints.length === 0) return [];
    const claimed = await tx.execute<{ id: string }[]>(CLAIM, [JSON.stringify(endpoints.map(({ id }) => id)), free]);
    if (claimed.length === 0) return [];
    return tx.execute<Claim[]>(LOAD, [JSON.stringify(claimed.map(({ id }) => id))]);
  });

/** Makes deliveries of stopped processes due again. @returns nothing; each costs an attempt */
export const recoverStopped = (db: Database): Promise<unknown> =>
  transaction(db, (tx) =>
    tx.execute(
      `update webhook_delivery set state = 'waiting', due_at = now()
       where id in (select id from webhook_delivery where state = 'sending' and due_at < now() for update skip locked)`,
    ),
  );

/** Counts what is being sent to an endpoint, and tells whether one of these requests is slow. */
const sendingOf = (endpoint: string): string =>
  `select count(*) as number, bool_or(s.due_at < now() + interval '${LEASE_SECONDS - SLOW_SECONDS} seconds') as is_slow
   from webhook_delivery s where s.endpoint_id = ${endpoint} and s.state = 'sending'`;

// Visits each endpoint with waiting deliveries once, by its index, whatever their number.
const LOCK_DUE_ENDPOINTS = `
  with recursive waiting as (
    (select endpoint_id from webhook_delivery where state = 'waiting' order by endpoint_id limit 1)
    union all
    select (select d.endpoint_id from webhook_delivery d
            where d.state = 'waiting' and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1)
    from waiting w where w.endpoint_id is not null
  ), due as (
    select w.endpoint_id, first.due_at, sending.number from waiting w
    cross join lateral (
      select d.due_at from webhook_delivery d
      where d.endpoint_id = w.endpoint_id and d.state = 'waiting' and d.due_at <= now() order by d.due_at limit 1
    ) first
    cross join lateral (${sendingOf('w.endpoint_id')}) sending
    where sending.number < ${CONCURRENCY_PER_ENDPOINT} and sending.is_slow is not true
  )
  select e.id from due join webhook_endpoint e on e.id = due.endpoint_id
  where e.paused_at is null and e.disabled_at is null and (e.held_until is null or e.held_until <= now())
  order by due.number, e.failing_since is not null, due.due_at limit ?
  for no key update of e skip locked`;

const CLAIM = `
  with picked as (
    select d.id from jsonb_array_elements_text(?::jsonb) as locked (id)
    join webhook_endpoint e on e.id = locked.id
    cross join lateral (${sendingOf('e.id')}) sending
    cross join lateral (
      select x.id, x.due_at, sending.number + row_number() over (order by x.due_at, x.id) as rank from webhook_delivery x
      where sending.is_slow is not true and x.endpoint_id = e.id and x.state = 'waiting' and x.due_at <= now()
      order by x.due_at, x.id
      limit greatest(0, case when e.failing_since is null then ${CONCURRENCY_PER_ENDPOINT} else 1 end - sending.number)
    ) d
    order by d.rank, e.failing_since is not null, d.due_at limit ?
  )
  update webhook_delivery d set state = 'sending', due_at = now() + interval '${LEASE_SECONDS} seconds', attempts = d.attempts + 1
  from picked where d.id = picked.id and d.state = 'waiting'
  returning d.id`;

const LOAD = `
  select d.id, d.endpoint_id, d.event_id, d.event as type, d.created_at, d.attempts, w.url, w.team_id, w.secret,
    case when w.previous_expires_at > now() then w.previous_secret end as previous_secret,
    case when e.id is not null
      then to_jsonb(e) - 'mac' || jsonb_build_object('type', coalesce(p.type, d.event), 'data', p.data) end as row,
    case when w.team_id is not null then m.id is not null end as is_member,
    case when ${activeMembership('m')} then to_jsonb(r.permissions) end as permissions
  from jsonb_array_elements_text(?::jsonb) as claimed (id)
  join webhook_delivery d on d.id = claimed.id
  join webhook_endpoint w on w.id = d.endpoint_id
  left join audit_event e on e.id = d.event_id
  left join audit_link l on l.event_id = d.event_id
  left join event_payload p on p.sequence = l.sequence
  left join membership m on m.team_id = w.team_id and m.account_id = w.account_id
  left join role r on r.id = m.role_id
  order by d.id`;
