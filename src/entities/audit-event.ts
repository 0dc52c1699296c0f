import { defineEntity, p } from '@mikro-orm/core';
import { base, instant, newId, text, textId } from './base.ts';

/**
 * The kind of credential or process that acted. `operator_session` is a session in the operator's area of the console,
 * `system` the service itself.
 */
export const ACTOR_KINDS = [
  'session',
  'api_key',
  'oauth_grant',
  'oauth_client',
  'anonymous',
  'operator_cli',
  'operator_key',
  'operator_session',
  'system',
] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/**
 * An action or a denial, with its actor and origin. Ids have no foreign keys, because events outlive what they refer
 * to. Triggers of the migration reject updates, and deletions other than by retention.
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
    /** The account that was the target. */
    accountId: textId().nullable(),
    /** The key, grant, role, invitation or session that was the target. */
    targetId: textId().nullable(),
    address: text().nullable(),
    requestId: text().nullable(),
    details: p.json<Record<string, unknown>>(),
    /** Number of equal denials within a minute, or reads of an operator key within an hour; otherwise 1. */
    count: p.integer().default(1),
    /** The MAC of the service over all other columns; null in rows of versions without MACs. */
    mac: p.blob().nullable(),
    /** The transaction that inserted it, by which the worker finds it; null in rows of versions before. */
    xid: p.string().columnType('xid8').nullable().defaultRaw('pg_current_xact_id()'),
  },
  indexes: [
    {
      name: 'audit_event_xid_index',
      expression: 'create index "audit_event_xid_index" on "audit_event" ("xid") where xid is not null',
    },
    {
      name: 'audit_event_team_index',
      expression: 'create index "audit_event_team_index" on "audit_event" ("team_id", "id") where team_id is not null',
    },
    {
      name: 'audit_event_actor_index',
      expression:
        'create index "audit_event_actor_index" on "audit_event" ("actor_id", "id") where actor_id is not null',
    },
    {
      name: 'audit_event_account_index',
      expression:
        'create index "audit_event_account_index" on "audit_event" ("account_id", "id") where account_id is not null',
    },
    {
      name: 'audit_event_credential_index',
      expression:
        'create index "audit_event_credential_index" on "audit_event" ("credential_id", "id") where credential_id is not null',
    },
    {
      name: 'audit_event_team_address_index',
      expression:
        'create index "audit_event_team_address_index" on "audit_event" ("team_id", "address", "id") where team_id is not null',
    },
  ],
  // No checks: PostgreSQL reads their text for each inserted row, and the MAC covers all columns.
});

export class AuditEvent extends AuditEventSchema.class {}
AuditEventSchema.setClass(AuditEvent);

/** An event that was found and has no position: it has no valid MAC, or it was restored. */
const AuditPendingSchema = defineEntity({
  name: 'AuditPending',
  tableName: 'audit_pending',
  properties: { eventId: textId().primary() },
});

export class AuditPending extends AuditPendingSchema.class {}
AuditPendingSchema.setClass(AuditPending);

/**
 * The position of an event: the one order of all events, without gaps. Each hash covers the previous one and the event.
 */
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

/** A signed position. All links up to a root were deleted by retention. */
const AuditCheckpointSchema = defineEntity({
  name: 'AuditCheckpoint',
  tableName: 'audit_checkpoint',
  properties: {
    ...base('chk'),
    sequence: p.bigint().unique('audit_checkpoint_sequence_unique'),
    hash: p.blob(),
    isRoot: p.boolean(),
    signature: p.blob(),
    /** Start time of the chain. */
    startedAt: instant().nullable(),
    /** End of the period in which events without a MAC are accepted, for an upgrade with several replicas. */
    unsignedUntil: instant().nullable(),
    /** The beginning of the chain, as in `audit_head`; null in checkpoints of versions that did not sign it. */
    rootSequence: p.bigint().nullable(),
    rootHash: p.blob().nullable(),
    rootAt: instant().nullable(),
    prunedBefore: textId().nullable(),
  },
});

export class AuditCheckpoint extends AuditCheckpointSchema.class {}
AuditCheckpointSchema.setClass(AuditCheckpoint);

/**
 * Where the worker has got to, in one row: the signed end of the chain, which is null before its first run, and the
 * snapshot in which it looked for events. `server` identifies the PostgreSQL server that the snapshot belongs to.
 */
const AuditHeadSchema = defineEntity({
  name: 'AuditHead',
  tableName: 'audit_head',
  properties: {
    id: p.smallint().primary().autoincrement(false).default(1),
    snapshot: p.string().columnType('pg_snapshot'),
    server: text(),
    sequence: p.bigint().nullable(),
    hash: p.blob().nullable(),
    signature: p.blob().nullable(),
    /** The position up to which payloads were deleted: where feeds begin. */
    feedStart: p.bigint().default(0),
    /** Events with smaller ids can have lost their positions: retention drops whole partitions of old events. */
    prunedBefore: textId().nullable(),
    /** The position up to which retention has deleted the chain, and when; null until this version has signed it. */
    rootSequence: p.bigint().nullable(),
    rootHash: p.blob().nullable(),
    rootAt: instant().nullable(),
  },
  checks: [{ name: 'audit_head_single_check', expression: 'id = 1' }],
});

export class AuditHead extends AuditHeadSchema.class {}
AuditHeadSchema.setClass(AuditHead);
