import { defineEntity, p } from '@mikro-orm/core';
import { instant, text, textId } from './base.ts';

/**
 * An event of the feed: its position, and what its resource was like when it was numbered. `data` is erased with the
 * account that it tells of, the row after EVENT_DAYS. The event itself has only ids and is never changed.
 */
const EventPayloadSchema = defineEntity({
  name: 'EventPayload',
  tableName: 'event_payload',
  properties: {
    sequence: p.bigint().primary().autoincrement(false),
    eventId: textId(),
    /** The present name of the event. */
    type: text(),
    teamId: textId().nullable(),
    accountId: textId().nullable(),
    targetId: textId().nullable(),
    data: p.json<Record<string, unknown>>().nullable(),
    createdAt: instant(),
  },
  indexes: [
    {
      name: 'event_payload_team_index',
      expression:
        'create index "event_payload_team_index" on "event_payload" ("team_id", "sequence") where team_id is not null',
    },
    {
      name: 'event_payload_account_index',
      expression:
        'create index "event_payload_account_index" on "event_payload" ("account_id", "sequence") where account_id is not null',
    },
    {
      name: 'event_payload_invitation_index',
      expression: `create index "event_payload_invitation_index" on "event_payload" ("target_id") where starts_with(type, 'invitation.')`,
    },
    {
      name: 'event_payload_address_index',
      expression: `create index "event_payload_address_index" on "event_payload" (lower(data #>> '{invitation,email}')) where starts_with(type, 'invitation.')`,
    },
  ],
});

export class EventPayload extends EventPayloadSchema.class {}
EventPayloadSchema.setClass(EventPayload);
