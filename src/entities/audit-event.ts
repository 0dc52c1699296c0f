import { defineEntity, p } from '@mikro-orm/core';
import { base, instant, newId, text, textId } from './base.ts';

/** What kind of credential or process did something. `system` is the service itself. */
export const ACTOR_KINDS = [
  'session',
  'api_key',
  'oauth_grant',
  'oauth_client',
  'anonymous',
  'operator_cli',
  'system',
] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/**
 * What was done, or refused, by whom and from where. Ids without foreign keys, because a row outlives what it
 * tells of. Triggers of the migration keep rows from being changed, and from being deleted but by retention.
 */
const AuditEventSchema = defineEntity({
  name: 'AuditEvent',
  tableName: 'audit_event',
  properties: {
    id: textId()
      .primary()
      .onCreate(() => newId('evt')),
    occurredAt: instant(),
    event: text(),
    actorKind: text().$type<ActorKind>(),
    /** The account that acted. */
    actorId: textId().nullable(),
    credentialId: textId().nullable(),
    clientId: textId().nullable(),
    teamId: textId().nullable(),
    /** Whose account it is about. */
    accountId: textId().nullable(),
    /** The key, grant, role, invitation or session it is about. */
    targetId: textId().nullable(),
    address: text().nullable(),
    requestId: text().nullable(),
    details: p.json<Record<string, unknown>>(),
    /** More than one for refusals of a kind within a minute. */
    count: p.integer().default(1),
  },
  indexes: [
    {
      name: 'audit_event_team_index',
      expression: 'create index "audit_event_team_index" on "audit_event" ("team_id", "id") where team_id is not null',
    },
  ],
  checks: [
    {
      name: 'audit_event_actor_kind_check',
      expression: `actor_kind in (${ACTOR_KINDS.map((kind) => `'${kind}'`).join(', ')})`,
    },
    { name: 'audit_event_count_check', expression: 'count > 0' },
  ],
});

export class AuditEvent extends AuditEventSchema.class {}
AuditEventSchema.setClass(AuditEvent);

/** An event that is no link of the chain yet: a trigger notes it in the transaction that inserts the event. */
const AuditPendingSchema = defineEntity({
  name: 'AuditPending',
  tableName: 'audit_pending',
  properties: { eventId: textId().primary() },
});

export class AuditPending extends AuditPendingSchema.class {}
AuditPendingSchema.setClass(AuditPending);

/** The place of an event in the chain: each hash is of the one before it and of the event's row. */
const AuditLinkSchema = defineEntity({
  name: 'AuditLink',
  tableName: 'audit_link',
  properties: {
    sequence: p.bigint().primary().autoincrement(false),
    eventId: textId().unique('audit_link_event_unique'),
    hash: p.blob(),
  },
});

export class AuditLink extends AuditLinkSchema.class {}
AuditLinkSchema.setClass(AuditLink);

/** The chain up to a link, signed. A root is one that retention has deleted the links up to. */
const AuditCheckpointSchema = defineEntity({
  name: 'AuditCheckpoint',
  tableName: 'audit_checkpoint',
  properties: {
    ...base('chk'),
    sequence: p.bigint().unique('audit_checkpoint_sequence_unique'),
    hash: p.blob(),
    isRoot: p.boolean(),
    signature: p.blob(),
  },
});

export class AuditCheckpoint extends AuditCheckpointSchema.class {}
AuditCheckpointSchema.setClass(AuditCheckpoint);
