import { command } from '../../db/query.ts';
import { WebhookDelivery, type WebhookEndpoint } from '../../entities/index.ts';
import { storedNames } from '../../events/catalogue.ts';
import { ProblemError } from '../../problems/error.ts';
import { TEST_TYPE } from '../../webhooks/payload.ts';
import { wakeEndpointsStep } from '../../webhooks/queue.ts';
import { endpointFields } from '../../webhooks/disable.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { TEAM_TYPES } from '../../webhooks/types.ts';
import { canSee, requireVisible, withEndpoint, type Owner } from './owner.ts';

const WAITING_TESTS_MAX = 5;

/** Sends a test event, once. @returns the id of its delivery */
export const sendTestEvent = (db: TransactionScope, owner: Owner, endpointId: string): Promise<string> =>
  withEndpoint(db, owner, endpointId, async (tx, endpoint) => {
    requireActive(endpoint);
    const waiting = { endpoint: endpointId, eventId: null, state: 'waiting' as const };
    if ((await tx.em.count(WebhookDelivery, waiting)) >= WAITING_TESTS_MAX)
      throw new ProblemError('webhook_inactive', 'Test events are waiting already.');
    const delivery = tx.em.create(WebhookDelivery, { ...waiting, event: TEST_TYPE, dueAt: new Date(0) });
    tx.record('webhook_endpoint.tested', endpointFields(endpoint));
    await tx.run([wakeEndpointsStep([endpointId])]);
    return delivery.id;
  });

/** Bounds one statement. */
const BATCH_MAX = 2000;
/** Bounds a call, which holds the lock of the team. */
const REPLAYED_MAX = 10 * BATCH_MAX;

const REPLAYED = `set state = 'waiting', attempts = 0, due_at = now(), reason = null`;
const replayOne = command<object>(
  'webhook_delivery_update_replayed',
  `update webhook_delivery ${REPLAYED} where id = $1 and state in ('delivered', 'failed', 'skipped') returning 1`,
);
const replayBatch = command<{ id: string }>(
  'webhook_delivery_update_replayed_since',
  `with chosen as (
    select id from webhook_delivery
    where endpoint_id = $1 and created_at >= $2::timestamptz and state in ('failed', 'skipped')
      and ($3::text is null or id < $3)
      and ($4::text is null or event in (select jsonb_array_elements_text($4::jsonb)))
    order by id desc limit ${BATCH_MAX}
  )
  update webhook_delivery d ${REPLAYED} from chosen
  where d.id = chosen.id and d.state in ('failed', 'skipped') returning d.id`,
);

/**
 * Sends a delivery again, with the same `webhook-id`. The caller must be able to see its event.
 * @throws webhook_delivery_not_found (404), permission_missing (403)
 */
export const replayDelivery = (
  db: TransactionScope,
  owner: Owner,
  endpointId: string,
  deliveryId: string,
): Promise<void> =>
  withEndpoint(db, owner, endpointId, async (tx, endpoint, held) => {
    requireActive(endpoint);
    const delivery = await tx.em.findOne(WebhookDelivery, { id: deliveryId, endpoint: endpointId });
    if (delivery === null) throw new ProblemError('webhook_delivery_not_found');
    requireVisible(held, [delivery.event]);
    // One that waits or is being sent needs no replay.
    const [rows] = await tx.run([[replayOne, [deliveryId]]]);
    noteReplay(tx, endpoint, rows.length);
  });

/**
 * Sends again what failed or was skipped since a time, the latest first, at most `REPLAYED_MAX`, without events that the
 * caller may not see. What the responsible member may still not see is skipped again. @returns the number of deliveries
 */
export const replayFailed = (db: TransactionScope, owner: Owner, endpointId: string, since: Date): Promise<number> =>
  withEndpoint(db, owner, endpointId, async (tx, endpoint, held) => {
    requireActive(endpoint);
    const visible =
      held === null
        ? null
        : JSON.stringify([TEST_TYPE, ...TEAM_TYPES.flatMap(storedNames)].filter((type) => canSee(held, type)));
    let replayed = 0;
    // Goes on before the oldest of the last batch, so that rows that changed are not looked at again.
    for (let before: string | null = null, changed = 1; changed > 0 && replayed < REPLAYED_MAX;) {
      const [rows]: readonly [{ id: string }[]] = await tx.run([
        [replayBatch, [endpointId, since.toISOString(), before, visible]],
      ]);
      changed = rows.length;
      replayed += changed;
      before = rows.reduce<string | null>((least, { id }) => (least === null || id < least ? id : least), null);
    }
    return noteReplay(tx, endpoint, replayed);
  });

function noteReplay(tx: Change, endpoint: WebhookEndpoint, number: number): number {
  if (number === 0) return 0;
  tx.record('webhook_endpoint.replayed', { ...endpointFields(endpoint), number });
  tx.later(wakeEndpointsStep([endpoint.id]));
  return number;
}

/** @throws webhook_inactive (409) */
function requireActive({ pausedAt, disabledAt }: WebhookEndpoint): void {
  if (pausedAt || disabledAt) throw new ProblemError('webhook_inactive');
}
