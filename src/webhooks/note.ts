import type { Pool } from 'pg';
import type { Database } from '../db/database.ts';
import { inTransaction } from '../events/chain/sql.ts';
import { retryConflicts } from '../db/errors.ts';
import { change } from '../transactions/change.ts';
import { disableEndpoints, type DisableReason } from './disable.ts';
import { notify, notifyOperators } from '../jobs/notify.ts';
import type { Result } from './attempt.ts';
import { wakeEndpoints } from './queue.ts';
import { FAILING_DAYS_MAX } from './retry.ts';

/**
 * Stores results. Those of deliveries that were deleted meanwhile are dropped, and so is the answer to data that was
 * erased meanwhile. The lock lets an erasure that runs at the same time either come first, or see the answer.
 */
const STORE_RESULTS = `
  with note as (
    select * from jsonb_to_recordset(?::jsonb) as n (
      delivery_id text, state text, reason text, delay_ms float8, is_undone boolean,
      id text, at timestamptz, status int, duration_ms int, error text, answer text, data_of text)
  ), kept as materialized (
    select l.event_id from audit_link l join event_payload p on p.sequence = l.sequence
    where l.event_id in (select n.data_of from note n where n.answer <> '') and p.data is not null
    order by p.sequence for share of p
  ), changed as (
    update webhook_delivery d set state = n.state, reason = n.reason,
      due_at = case when n.delay_ms is null then d.due_at else now() + n.delay_ms * interval '1 ms' end,
      attempts = case when n.is_undone then d.attempts - 1 else d.attempts end
    from note n where d.id = n.delivery_id and d.state = 'sending'
    returning d.id
  )
  insert into webhook_attempt (id, created_at, delivery_id, status, duration_ms, error, answer)
  select n.id, n.at, n.delivery_id, n.status, n.duration_ms, n.error,
    case when n.data_of is null or n.answer = '' or n.data_of in (select event_id from kept) then n.answer end
  from note n join changed c on c.id = n.delivery_id where n.id is not null`;

/** Stores which endpoints succeed and fail. Writes only changes, in the order of the locks of other processes. */
const STORE_HEALTH = `
  with health as (
    select * from jsonb_to_recordset(?::jsonb) as h (endpoint_id text, is_success boolean, hold_ms float8)
  ), locked as (
    select e.id from webhook_endpoint e join health h on h.endpoint_id = e.id
    where (h.is_success and (e.failing_since is not null or e.held_until is not null))
      or (not h.is_success and (e.failing_since is null or h.hold_ms > 0))
    order by e.id for no key update of e
  )
  update webhook_endpoint e set
    failing_since = case when h.is_success then null else coalesce(e.failing_since, now()) end,
    held_until = case when h.is_success then null when h.hold_ms > 0 then now() + h.hold_ms * interval '1 ms'
      else e.held_until end
  from health h where h.endpoint_id = e.id and e.id in (select id from locked)`;

/** Which of the endpoints had no success for too long. */
const FAILING_TOO_LONG = `
  select id from webhook_endpoint
  where failing_since < now() - interval '${FAILING_DAYS_MAX} days' and disabled_at is null
    and id in (select jsonb_array_elements_text(?::jsonb))`;

/**
 * Stores what became of attempts in one transaction, which lets their endpoints get the next ones. Disables endpoints
 * that are gone or fail for too long.
 */
export async function noteResults(pool: Pool, db: Database, results: readonly Result[]): Promise<void> {
  const health = toHealth(results);
  // Time alone does not disable: an endpoint that failed once and then got nothing for days has all attempts before.
  const exhausted = results.filter(isExhausted).map(({ claim }) => claim.endpoint_id);
  const failing = await retryConflicts(() =>
    inTransaction(pool, async (tx) => {
      const steps = [
        ...(health.length > 0 ? [tx.execute(STORE_HEALTH, [JSON.stringify(health)])] : []),
        tx.execute(STORE_RESULTS, [JSON.stringify(results.map(toNote))]),
        wakeEndpoints(tx, [...new Set(results.map(({ claim }) => claim.endpoint_id))]),
      ];
      const tooLong =
        exhausted.length > 0 ? tx.execute<{ id: string }[]>(FAILING_TOO_LONG, [JSON.stringify(exhausted)]) : [];
      const [found] = await Promise.all([tooLong, ...steps]);
      return found;
    }),
  );
  const disabling = new Map<string, Disabling>(
    failing.map(({ id }) => [id, { id, reason: 'failing', still: { failingSince: { $ne: null } } }]),
  );
  for (const { claim, disables: reason } of results) {
    const id = claim.endpoint_id;
    if (reason !== null) disabling.set(id, { id, reason, still: reason === 'gone' ? { url: claim.url } : {} });
  }
  for (const each of disabling.values()) await disableAndNotify(db, each);
}

/**
 * Whether the last attempt of an event failed, or a repeated one after the time of all ten: if a receiver hangs and
 * gets many events, each waits so long for its turn that none ever has its last attempt.
 */
function isExhausted({ claim, state, attempt }: Result): boolean {
  if (claim.event_id === null || attempt === null || state === 'delivered') return false;
  return state === 'failed' || (claim.attempts > 1 && claim.is_overdue);
}

const toNote = ({ claim, state, reason, delayMs, attempt }: Result) => ({
  delivery_id: claim.id,
  state,
  reason,
  delay_ms: delayMs,
  is_undone: state === 'waiting' && attempt === null,
  /** The event whose data was sent. */
  data_of: claim.row?.data ? claim.event_id : null,
  ...attempt,
});

/** Returns the last result of each endpoint, in the order of ids; a success counts more than a failure. */
function toHealth(results: readonly Result[]) {
  const byEndpoint = new Map<string, { endpoint_id: string; is_success: boolean; hold_ms: number }>();
  for (const { claim, state, attempt, holdMs, disables } of results) {
    if (attempt === null && disables === null) continue;
    // A failed test does not begin the days after which an endpoint is disabled: it is not repeated.
    if (claim.event_id === null && state !== 'delivered') continue;
    const known = byEndpoint.get(claim.endpoint_id);
    byEndpoint.set(claim.endpoint_id, {
      endpoint_id: claim.endpoint_id,
      is_success: state === 'delivered' || known?.is_success === true,
      hold_ms: Math.max(holdMs, known?.hold_ms ?? 0),
    });
  }
  return [...byEndpoint.values()].toSorted((a, b) => (a.endpoint_id < b.endpoint_id ? -1 : 1));
}

/** What to disable, and what must still hold then: it can have got another URL or a success meanwhile. */
type Disabling = {
  readonly id: string;
  readonly reason: DisableReason;
  readonly still: { readonly url?: string; readonly failingSince?: { readonly $ne: null } };
};

const disableAndNotify = (db: Database, { id, reason, still }: Disabling): Promise<void> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
    for (const { account, team, url } of await disableEndpoints(tx, { id, ...still }, reason)) {
      const notice = { kind: 'webhook_disabled' as const, url, reason };
      if (account) await notify(tx, account.id, notice);
      else if (!team) await notifyOperators(tx, { ...notice, isOfInstallation: true });
    }
  });
