import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text, textId, type Formula } from './base.ts';
import { Team } from './team.ts';

/** Where events are delivered to: an endpoint of a team, or of the installation. */
const WebhookEndpointSchema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    ...base('whe'),
    /** Null for an endpoint of the installation, which gets the events of all teams and accounts. */
    team: () => p.manyToOne(Team).nullable().deleteRule('cascade'),
    /** The member whose permissions decide what a team's endpoint gets: who last set its URL, types or secret. */
    account: () => p.manyToOne(Account).nullable().deleteRule('set null'),
    url: text(),
    /** The names of the events; empty for all. */
    types: p.array().columnType('text[]').$type<string[]>(),
    /** Encrypted. */
    secret: text().hidden(),
    /** The secret before the rotation, encrypted. It also signs until its expiry. */
    previousSecret: text().nullable().hidden(),
    previousExpiresAt: instant().nullable(),
    /** Whether the previous secret still signs, by the clock of the database. Not a column, so it is set with the expiry. */
    isOverlapping: p
      .boolean()
      .formula<Formula>(({ previousExpiresAt }) => `coalesce(${previousExpiresAt} > now(), false)`),
    pausedAt: instant().nullable(),
    disabledAt: instant().nullable(),
    disabledReason: text().nullable(),
    /** Since when nobody sees it. It is disabled and of no team, and a job deletes its deliveries. */
    deletedAt: instant().nullable(),
    /** Time of the first failure since the last success. */
    failingSince: instant().nullable(),
    /** Until when the receiver asked for no requests (`Retry-After`). */
    heldUntil: instant().nullable(),
  },
  indexes: [
    {
      name: 'webhook_endpoint_team_index',
      expression: 'create index "webhook_endpoint_team_index" on "webhook_endpoint" ("team_id", "id")',
    },
    {
      name: 'webhook_endpoint_account_index',
      expression: 'create index "webhook_endpoint_account_index" on "webhook_endpoint" ("account_id")',
    },
  ],
});

export class WebhookEndpoint extends WebhookEndpointSchema.class {}
WebhookEndpointSchema.setClass(WebhookEndpoint);

/** When to look at an endpoint again. It is the row that processes lock to claim what they send to it. */
const WebhookQueueSchema = defineEntity({
  name: 'WebhookQueue',
  tableName: 'webhook_queue',
  properties: {
    endpoint: () => p.manyToOne(WebhookEndpoint).primary().deleteRule('cascade'),
    /** Null if nothing can be sent until something wakes it: an event, a result, or its owner. */
    nextAt: instant().nullable(),
    /** Whether its last attempt failed, as of the last result. */
    isFailing: p.boolean().default(false),
  },
  indexes: [
    {
      name: 'webhook_queue_next_index',
      expression:
        'create index "webhook_queue_next_index" on "webhook_queue" ("is_failing", "next_at") where next_at is not null',
    },
  ],
});

export class WebhookQueue extends WebhookQueueSchema.class {}
WebhookQueueSchema.setClass(WebhookQueue);

/** `skipped` is final: the event was not sent, because the responsible member may not see it. */
export const DELIVERY_STATES = ['waiting', 'sending', 'delivered', 'failed', 'skipped'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One event for one endpoint. The endpoint gets it again only if the delivery is replayed. */
const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  properties: {
    ...base('whd'),
    endpoint: () => p.manyToOne(WebhookEndpoint).deleteRule('cascade'),
    /** Null for a test event. Has no foreign key, because retention can delete the event. */
    eventId: textId().nullable(),
    event: text(),
    state: text().$type<DeliveryState>(),
    /** The number of attempts since it was created or replayed. */
    attempts: p.integer().default(0),
    /** The next attempt; while sending, the time after which the sender counts as stopped. */
    dueAt: instant(),
    /** Why it failed or was skipped. */
    reason: text().nullable(),
  },
  uniques: [{ name: 'webhook_delivery_event_unique', properties: ['endpoint', 'eventId'] }],
  indexes: [
    {
      name: 'webhook_delivery_waiting_index',
      expression: `create index "webhook_delivery_waiting_index" on "webhook_delivery" ("endpoint_id", "due_at") where state = 'waiting'`,
    },
    {
      name: 'webhook_delivery_sending_index',
      expression: `create index "webhook_delivery_sending_index" on "webhook_delivery" ("endpoint_id") where state = 'sending'`,
    },
    {
      name: 'webhook_delivery_undelivered_index',
      expression: `create index "webhook_delivery_undelivered_index" on "webhook_delivery" ("endpoint_id", "created_at") where state in ('waiting', 'sending')`,
    },
    {
      name: 'webhook_delivery_endpoint_index',
      expression: 'create index "webhook_delivery_endpoint_index" on "webhook_delivery" ("endpoint_id", "id")',
    },
    {
      name: 'webhook_delivery_created_index',
      expression: 'create index "webhook_delivery_created_index" on "webhook_delivery" ("created_at")',
    },
  ],
  checks: [
    {
      name: 'webhook_delivery_state_check',
      expression: `state in (${DELIVERY_STATES.map((state) => `'${state}'`).join(', ')})`,
    },
  ],
});

export class WebhookDelivery extends WebhookDeliverySchema.class {}
WebhookDeliverySchema.setClass(WebhookDelivery);

/** One request to an endpoint, with its answer. */
const WebhookAttemptSchema = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempt',
  properties: {
    ...base('wha'),
    delivery: () => p.manyToOne(WebhookDelivery).deleteRule('cascade'),
    /** Null if there was no answer. */
    status: p.integer().nullable(),
    durationMs: p.integer(),
    error: text().nullable(),
    /** The first KB of the answer. */
    answer: text().nullable(),
  },
  indexes: [
    {
      name: 'webhook_attempt_delivery_index',
      expression: 'create index "webhook_attempt_delivery_index" on "webhook_attempt" ("delivery_id", "id")',
    },
  ],
});

export class WebhookAttempt extends WebhookAttemptSchema.class {}
WebhookAttemptSchema.setClass(WebhookAttempt);

/** The number of the last event for which deliveries were created, in one row. */
const WebhookCursorSchema = defineEntity({
  name: 'WebhookCursor',
  tableName: 'webhook_cursor',
  properties: {
    id: p.smallint().primary().autoincrement(false).default(1),
    sequence: p.bigint(),
    /** Older events get no deliveries: the time of a restore without deliveries. */
    notBefore: instant().nullable(),
  },
  checks: [{ name: 'webhook_cursor_single_check', expression: 'id = 1' }],
});

export class WebhookCursor extends WebhookCursorSchema.class {}
WebhookCursorSchema.setClass(WebhookCursor);
