import { z } from 'zod';
import { serialize, type EventRow } from '../../events/serialize.ts';
import { ACTOR_KINDS } from '../../entities/index.ts';
import { cursor } from '../../procedures/cursors.ts';
import { instant, resourceId, text, timestamp } from '../../procedures/fields.ts';
import { accountIds, toAccountIds } from '../members/member-id.ts';

/** An event with the names of what its ids refer to, while those exist. */
export type NamedRow = EventRow & {
  actor_name: string | null;
  account_name: string | null;
  credential_name: string | null;
  target_name: string | null;
};

/** Filters of the page: the part of an event name before the dot. */
const KINDS = [
  'team',
  'ownership',
  'member',
  'role',
  'invitation',
  'api_key',
  'webhook_endpoint',
  'oauth_grant',
  'access',
] as const;

export const listAuditInput = z.object({
  teamId: resourceId,
  kind: z.enum(KINDS).optional(),
  /** The account that acted. */
  person: resourceId.optional(),
  /** The API key that was used. */
  key: resourceId.optional(),
  address: text(1, 45).optional(),
  from: instant.optional(),
  /** Exclusive. */
  to: instant.optional(),
  order: z.enum(['newest', 'oldest']).default('newest'),
  /** `nextCursor` of the previous page. */
  cursor: cursor.optional(),
  limit: z.int().min(1).max(500).default(50),
});

const person = z.object({ ...accountIds, name: z.string().nullable() });

export const auditEventOutput = z.object({
  id: z.string(),
  occurredAt: timestamp,
  /** One of the catalogue, or of a newer version during an upgrade. */
  event: z.string(),
  actorKind: z.enum([...ACTOR_KINDS, 'operator']),
  /** The account that acted; null if there was none, or if it is an operator’s. */
  actor: person.nullable(),
  /** The API key that was used. */
  keyId: z.string().nullable(),
  credentialName: z.string().nullable(),
  /** The account that it is about, unless that is the actor. */
  subject: person.nullable(),
  /** The resource that it is about, with its name while it exists. */
  target: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
  address: z.string().nullable(),
  requestId: z.string().nullable(),
  clientRequestId: z.string().nullable(),
  reason: z.string().nullable(),
  count: z.int(),
});

export const auditPageOutput = z.object({ events: z.array(auditEventOutput), nextCursor: z.string().nullable() });

/** Converts an event for the members of its team. */
export function presentEvent(row: NamedRow): z.infer<typeof auditEventOutput> {
  const { type, actor, accountId, target, data, ...event } = serialize(row, 'team');
  const { reason } = data;
  return {
    id: event.id,
    occurredAt: event.occurredAt,
    event: type,
    actorKind: actor.kind,
    actor: actor.id === null ? null : { ...toAccountIds(actor.id), name: row.actor_name },
    keyId: actor.kind === 'api_key' ? actor.credentialId : null,
    credentialName: actor.credentialId === null ? null : row.credential_name,
    subject:
      accountId === null || accountId === actor.id ? null : { ...toAccountIds(accountId), name: row.account_name },
    target: target === null ? null : { id: target.id, name: row.target_name },
    address: actor.address,
    requestId: event.requestId,
    clientRequestId: event.clientRequestId,
    reason: typeof reason === 'string' ? reason : null,
    count: event.count,
  };
}
